import type { Database, Queryable } from '@libs/db';
import { LOOK_EVERYWHERE } from './announcement.ts';
import { deliveryChannel } from './schema.ts';

// SQL of the processes that send: their names, their beats, and what becomes of their lanes.

export type OwnerStore = ReturnType<typeof createOwnerStore>;

export function createOwnerStore(database: Database, schema: string) {
  return {
    /** In a session of its own, which holds the lock until it ends: a killed process loses it at once. */
    async register(session: Queryable, owner: string): Promise<void> {
      await session.query('select pg_advisory_lock(hashtextextended($1, 0))', [owner]);
      await session.query(
        `insert into ${schema}.dispatchers (id, seen_at) values ($1, statement_timestamp())`,
        [owner],
      );
    },

    /** False when this dispatcher was taken for dead. */
    async beat(session: Queryable, owner: string): Promise<boolean> {
      const { rowCount } = await session.query(
        `update ${schema}.dispatchers set seen_at = statement_timestamp() where id = $1`,
        [owner],
      );
      return rowCount === 1;
    },

    /**
     * Frees the lanes of dispatchers whose session has ended, or which are silent for too long because their machine is
     * gone and its sessions with it have not ended yet. Gives how many dispatchers that were.
     */
    async reap(silenceMs: number): Promise<number> {
      return database.transaction(async (tx) => {
        const { rows: ended } = await tx.query<{ id: string }>(
          `select id from ${schema}.dispatchers where pg_try_advisory_xact_lock(hashtextextended(id, 0))`,
        );
        const { rows } = await tx.query<{ id: string }>(
          `delete from ${schema}.dispatchers
where seen_at < statement_timestamp() - $1::double precision * interval '1 millisecond' or id = any ($2)
returning id`,
          [silenceMs, ended.map((row) => row.id)],
        );
        // A statement of its own, because it must see the lanes that were acquired while the first one waited.
        const dead = rows.map((row) => row.id);
        if (dead.length > 0) await tx.query(`delete from ${schema}.lanes where owner = any ($1)`, [dead]);
        return dead.length;
      });
    },

    /** Gives all lanes back and tells the other dispatchers. */
    async unregister(session: Queryable, owner: string): Promise<void> {
      await session.query(
        `with gone as (delete from ${schema}.dispatchers where id = $1)
delete from ${schema}.lanes where owner = $1`,
        [owner],
      );
      await session.query('select pg_notify($1, $2)', [deliveryChannel(schema), LOOK_EVERYWHERE]);
      await session.query('select pg_advisory_unlock(hashtextextended($1, 0))', [owner]);
    },
  };
}
