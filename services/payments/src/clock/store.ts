import type { Queryable } from '@libs/db';
import { type Tenant, tenantOf } from '../tenant.ts';
import { raiseVersion } from '../tenant-version-store.ts';
import { type SandboxClock, toClock } from './clock.ts';

interface ClockRow {
  id: string;
  clock_frozen_at: Date | null;
  clock_offset_ms: number | null;
}

function fromRow(row: ClockRow | undefined): SandboxClock {
  return toClock(row?.clock_frozen_at ?? null, row?.clock_offset_ms ?? null);
}

export async function findClocks(
  db: Queryable,
  organisationIds: readonly string[],
): Promise<Map<string, SandboxClock>> {
  const { rows } = await db.query<ClockRow>(
    {
      name: 'clock.find',
      text: 'select id, clock_frozen_at, clock_offset_ms from organisations where id = any($1)',
    },
    [organisationIds],
  );
  return new Map(rows.map((row) => [row.id, fromRow(row)]));
}

export async function lockClock(tx: Queryable, organisationId: string): Promise<SandboxClock> {
  const { rows } = await tx.query<ClockRow>(
    'select id, clock_frozen_at, clock_offset_ms from organisations where id = $1 for update',
    [organisationId],
  );
  return fromRow(rows[0]);
}

/** Gives the tenant whose clock it is now: a reset may have come after the caller was recognised. */
export async function saveClock(tx: Queryable, organisationId: string, clock: SandboxClock): Promise<Tenant> {
  const { rows } = await tx.query<{ test_epoch: number }>(
    'update organisations set clock_frozen_at = $2, clock_offset_ms = $3 where id = $1 returning test_epoch',
    [
      organisationId,
      clock.state === 'frozen' ? clock.at : null,
      clock.state === 'running' ? clock.offsetMs : null,
    ],
  );
  const tenant = tenantOf(organisationId, 'test', rows[0]?.test_epoch);
  // On one server a trigger does it.
  if (tx.isSpread && rows.length > 0) await raiseVersion(tx, tenant.id);
  return tenant;
}
