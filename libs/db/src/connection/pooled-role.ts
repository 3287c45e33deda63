import type pg from 'pg';
import {
  type ConnectionOptions,
  connectAlone,
  connectionSettings,
  DatabaseUnreachable,
  timeoutsOf,
} from './connection.ts';

/**
 * What connections through a pooler are set to. A pooler that gives out connections by transaction takes no start-up
 * options, so the role brings them in this database (`ALTER ROLE … IN DATABASE … SET`), which a role may say of itself.
 * What is set already is not written again, so that an operator who set it keeps the right to.
 */
export async function settleRole(options: ConnectionOptions & { directUrl: string }): Promise<void> {
  const client = await connectAlone(
    options.directUrl,
    `${options.schema} settings of the role`,
    timeoutsOf(options),
  );
  try {
    await client.query('begin');
    // Processes that start side by side would otherwise change one row of the catalogue at once.
    await client.query(
      `select pg_advisory_xact_lock(hashtextextended(format('role %s in %s', current_user, current_database()), 0))`,
    );
    await writeMissing(client, connectionSettings(options));
    await client.query('commit');
  } finally {
    await client.end();
  }
}

async function writeMissing(client: pg.Client, wanted: Readonly<Record<string, string>>): Promise<void> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select split_part(line, '=', 1) as name, substr(line, strpos(line, '=') + 1) as value
     from pg_db_role_setting s, unnest(s.setconfig) as line
     where s.setrole = (select oid from pg_roles where rolname = current_user)
       and s.setdatabase = (select oid from pg_database where datname = current_database())`,
  );
  const present = new Map(rows.map(({ name, value }) => [name, value]));
  const path = present.get('search_path');
  if (path !== undefined && path !== wanted.search_path)
    throw new DatabaseUnreachable(
      `the role of the database URL has the search path ${path} in this database, and ${wanted.search_path} is needed: ` +
        'behind a pooler each service has a role, or a database, of its own',
    );
  for (const [name, value] of Object.entries(wanted))
    if (present.get(name) !== value) {
      const { rows: statements } = await client.query<{ text: string }>(
        `select format('alter role %I in database %I set %I = %L', current_user, current_database(), $1::text, $2::text) as text`,
        [name, value],
      );
      await client.query((statements[0] as { text: string }).text);
    }
}

/** A pooler keeps connections that were opened before the role was set up; statements would not find their tables there. */
export async function checkPooledPath(pool: pg.Pool, { schema }: ConnectionOptions): Promise<void> {
  const { rows } = await pool.query<{ path: string }>(`select current_setting('search_path') as path`);
  if (rows[0]?.path !== schema)
    throw new DatabaseUnreachable(
      `the pooler gives a connection with the search path ${rows[0]?.path} instead of ${schema}: it was opened before the ` +
        "role was set up, or by another role than the direct one's; run RECONNECT in the pooler's console",
    );
}
