// What a database that is spread over servers refuses in a statement, counted in every store: a new one needs a form for spread
// tables beside it.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { KNOWN_CONSTRUCTS } from './known-constructs.ts';
import { countConstructs, REFUSED_CONSTRUCTS } from './refused-constructs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

function storesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|[/-])store\.ts$/.test(path) && !/node_modules|(^|\/)test\//.test(path))
    .map((path) => join(folder, path));
}

test('every store has those that are known of it, and no others', () => {
  const stores = ['libs', 'services'].flatMap(storesBelow);
  expect(stores.length).toBeGreaterThan(50);
  const found = Object.fromEntries(
    stores
      .map((path) => [path, countConstructs(readFileSync(join(root, path), 'utf8'))] as const)
      .filter(([, counts]) => Object.keys(counts).length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const more = Object.entries(found).flatMap(([path, counts]) =>
    Object.entries(counts)
      .filter(([construct, count]) => count !== (KNOWN_CONSTRUCTS[path]?.counts[construct] ?? 0))
      .map(
        ([construct, count]) => `${path}: ${count} × ${construct}: ${REFUSED_CONSTRUCTS[construct]?.instead}`,
      ),
  );
  expect(more).toEqual([]);
});

test('a store that keeps one of them for one server has another form for tables that are spread', () => {
  const single = Object.entries(KNOWN_CONSTRUCTS)
    .filter(([, { why }]) => why === 'two forms')
    .filter(
      ([path]) => !/isSpread|queryByTenant\(|queryByTenant</.test(readFileSync(join(root, path), 'utf8')),
    )
    .map(([path]) => path);
  expect(single).toEqual([]);
});

describe('each construct is found', () => {
  test.each([
    ['moment of the clock', 'update jobs set ready_at = clock_timestamp() where id = 1'],
    ['place of a row', 'delete from t where ctid = any (array(select ctid from t limit 5))'],
    ['recursion', 'with recursive lane as (select 1)'],
    [
      'lateral with a limit',
      'from unnest($1) as w cross join lateral (select * from q where q.a = w.a limit 1) as x',
    ],
    ['void in a select list', 'select pg_notify($1, $2) from added'],
    [
      'lock over many tenants',
      'select * from payments p join unnest($1::text[]) as k (id) using (id) for update of p',
    ],
    ['interval and a moment of the row', `update t set at = least(at, to_timestamp(0)) - interval '1 day'`],
    ['interval and a moment of the row', `update t set at = at + $1 * interval '1 day' where id = 1`],
    ['rows without columns', 'select count(*) from (select from t limit 5) as some'],
    [
      'count of an insert that selects',
      'const { rowCount } = await tx.query(`insert into t (a) select $1 where true on conflict do nothing`',
    ],
  ])('%s', (construct, sql) => {
    expect(countConstructs(sql)).toEqual({ [construct]: 1 });
  });

  test('and what is allowed is not', () => {
    expect(
      countConstructs(`select * from payments where tenant_id = $1 and id = $2 for update;
        update jobs set ready_at = statement_timestamp() where id = $1; select pg_notify($1, $2)`),
    ).toEqual({});
    expect(
      countConstructs(`update t set a = statement_timestamp() + $1 * interval '1 day';
        delete from t where a < statement_timestamp() - interval '1 day';
        update t set a = (a at time zone 'UTC' - interval '1 day') at time zone 'UTC'`),
    ).toEqual({});
    for (const insert of [
      'values ($1) on conflict do nothing',
      'select $1 where true on conflict do nothing returning a',
    ])
      expect(
        countConstructs(`const { rowCount } = await tx.query(\`insert into t (a) ${insert}\`, [1])`),
      ).toEqual({});
  });
});

test('the list of the stores is the one that is under version control', () => {
  const tracked = execFileSync('git', ['ls-files', 'libs', 'services'], { cwd: root, encoding: 'utf8' });
  for (const path of Object.keys(KNOWN_CONSTRUCTS)) expect(tracked).toContain(path);
});
