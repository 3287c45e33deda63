import type { Queryable } from '@libs/db';
import type { Mode } from '../tenant.ts';
import type { RailId } from './rail-ids.ts';

export interface StoredHealth {
  rail: RailId;
  mode: Mode;
  state: 'up' | 'down';
  reason: string | null;
  changedAt: Date;
}

interface HealthRow {
  rail: RailId;
  mode: Mode;
  state: 'up' | 'down';
  reason: string | null;
  changed_at: Date;
}

export async function loadHealth(db: Queryable): Promise<StoredHealth[]> {
  const { rows } = await db.query<HealthRow>({
    name: 'rail_health.load',
    text: 'select rail, mode, state, reason, changed_at from rail_health',
  });
  return rows.map((row) => ({
    rail: row.rail,
    mode: row.mode,
    state: row.state,
    reason: row.reason,
    changedAt: row.changed_at,
  }));
}

/** The newest word counts: a process that is behind does not undo what another has seen since. */
export async function saveHealth(db: Queryable, health: StoredHealth): Promise<void> {
  await db.query(
    `insert into rail_health (rail, mode, state, reason, changed_at) values ($1, $2, $3, $4, $5)
     on conflict (rail, mode) do update
     set state = excluded.state, reason = excluded.reason, changed_at = excluded.changed_at
     where rail_health.changed_at <= excluded.changed_at`,
    [health.rail, health.mode, health.state, health.reason, health.changedAt],
  );
}
