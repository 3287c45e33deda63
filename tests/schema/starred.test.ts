// Prepared statements name the columns that they answer: releases that add one run beside the version before.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { starredTables, textsOf } from './starred.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** `part`: put into statements that name what they answer. `parsed anew`: without a name, with every call. */
const KNOWN: Readonly<Record<string, { why: 'part' | 'parsed anew'; tables: readonly string[] }>> = {
  'services/payments/src/ledger/report-store.ts': { why: 'part', tables: ['ledger_transfers'] },
  'services/payments/src/ledger/sums-store.ts': { why: 'part', tables: ['ledger_transfers'] },
  'services/payments/src/payments/list-store.ts': {
    why: 'part',
    tables: ['payments', 'payments', 'payments'],
  },
  'services/payments/src/rails/ach/books/books-store.ts': {
    why: 'part',
    tables: ['ach_entries', 'sandbox_ach_entries'],
  },
  'services/payments/src/rails/rtp/books/books-store.ts': {
    why: 'part',
    tables: ['rtp_submissions', 'sandbox_rtp_transfers'],
  },
  'services/toolhub/src/billing/store.ts': { why: 'parsed anew', tables: ['plans'] },
  'services/toolhub/src/invoices/run-store.ts': { why: 'parsed anew', tables: ['plan_terms'] },
};

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.ts$/.test(path) && !/node_modules|(^|\/)test\/|\.test\.ts$/.test(path))
    .map((path) => join(folder, path));
}

test('no statement answers all columns of a table, whatever they are', () => {
  const sources = ['libs', 'services'].flatMap(sourcesBelow);
  expect(sources.length).toBeGreaterThan(500);
  const found = sources
    .map((path) => [
      path,
      textsOf(readFileSync(join(root, path), 'utf8')).flatMap((text) => starredTables(text)),
    ])
    .filter(([, tables]) => tables?.length !== 0);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(KNOWN).map(([path, { tables }]) => [path, tables])),
  );
});

test.each([
  ['select * from notes where id = $1', ['notes']],
  ['select n.*, count(*) over () from notes n join unnest($1::text[]) as wanted (id) using (id)', ['notes']],
  [
    'select found.* from unnest($1) as wanted (id) cross join lateral (select * from notes where id = 1) as found',
    ['notes'],
  ],
  [
    'with some as materialized (select * from notes), fewer as (select * from some) select * from fewer',
    ['notes'],
  ],
  ['with gone as (delete from notes where id = $1 returning *) select gone.* from gone', ['what it changes']],
  ['update notes n set text = $1 where id = $2 returning n.*', ['what it changes']],
  ['select a from x union all select * from notes', ['notes']],
  ['select count(*) from notes', []],
  ['select found.* from (select id, text from notes) as found', []],
  ['select wanted.* from unnest($1::text[]) as wanted (id) left join notes on notes.id = wanted.id', []],
  ['insert into notes (id) select * from unnest($1::text[]) returning id', []],
  ['select id from (select * from notes) as all_notes where (a, b) in (select * from others)', []],
])('%s', (sql, tables) => {
  expect(starredTables(sql)).toEqual(tables);
});

test('texts are found where they stand', () => {
  const source =
    "// 'one'\nconst a = 'two'; /* `three` */ const b = `four $" +
    "{a === 'five' ? `six` : ''} seven`; const c = { d: `eight` };";
  expect(textsOf(source)).toEqual(['two', 'five', 'six', '', 'four  elsewhere  seven', 'eight']);
});
