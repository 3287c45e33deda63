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
