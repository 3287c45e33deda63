// The guides give operators statements to paste into psql, which knows no search path of ours: each runs as it is printed.
import { readFileSync } from 'node:fs';
import { openDatabase } from '@libs/db';
import { connectionTo, createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterEach, expect, test } from 'vitest';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';

let database: TestDatabase;
afterEach(() => database.drop());

function statementsOf(guide: string): string[] {
  const text = readFileSync(new URL(`../../services/${guide}`, import.meta.url), 'utf8');
  // The id of a row stands as three dots.
  return [...text.matchAll(/`((?:select|update|delete) [^`]+)`/g)].map(([, sql = '']) =>
    sql.replaceAll('…', '0'),
  );
}

test.each([
  ['payments', paymentsMigrations(), ['payments/docs/runbook.md', 'payments/docs/backups.md']],
  ['toolhub', migrationSource, ['toolhub/docs/runbook.md', 'toolhub/docs/operating.md']],
] as const)('%s: statements of the guides run', async (_product, migrations, guides) => {
  database = await createTestDatabase(migrations);
  const asPsql = await openDatabase({ ...connectionTo(database.url), schema: 'public', connectionsMax: 1 });
  const statements = guides.flatMap(statementsOf);
  expect(statements.length).toBeGreaterThan(3);
  for (const statement of statements) {
    const failure = await asPsql.query(statement).then(
      () => null,
      (error: Error) => `${statement}: ${error.message}`,
    );
    expect(failure).toBeNull();
  }
  await asPsql.close();
});

test('toolhub: who meets the limit of the plan is told from who is refused for another reason', async () => {
  database = await createTestDatabase(migrationSource);
  const asPsql = await openDatabase({ ...connectionTo(database.url), schema: 'public', connectionsMax: 1 });
  await asPsql.query(
    `insert into toolhub.audit_entries (customer_id, id, at, actor_type, actor_id, action, target, outcome)
     select customer_id, n::text, now(), 'token', 'thp', 'tool.call', 'slack_send_message', 'refused'
     from (values ('too_fast', 50), ('used_up', 2)) as of_customer (customer_id, refusals), generate_series(1, refusals) as n`,
  );
  await asPsql.query(
    `insert into toolhub.usage_counters (customer_id, month, used, stop_at)
     select customer_id, date_trunc('month', now() at time zone 'UTC'), used, 100
     from (values ('too_fast', 3), ('used_up', 100), ('quiet', 100)) as of_customer (customer_id, used)`,
  );
  const statement = statementsOf('toolhub/docs/runbook.md').find((sql) => sql.includes('audit_entries'));
  const { rows } = await asPsql.query<{ customer_id: string }>(statement ?? '');
  expect(rows.map(({ customer_id }) => customer_id)).toEqual(['used_up']);
  await asPsql.close();
});
