import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDatabase, type Queryable } from '@libs/db';

const CONNECTIONS = 16;
const DEBIAN_PROGRAMS = '/usr/lib/postgresql';

/** About what a payment is as JSON. */
const document = `{"id":"pay_01m7enggex0w7ppxznkdd76s8g","object":"payment","rest":"${'x'.repeat(1_300)}"}`;

/** The rows that accepting one payment writes, as statements of one transaction; `$id` makes them distinct. */
function statements(id: string, text: (value: string) => string): string[] {
  const name = (prefix: string) => `${text(prefix)} || ${id}`;
  return [
    `insert into idempotency_keys (tenant_id, path, key, fingerprint, event_id, status, created_at)
     values ('org_bench.test', '/v1/payments', ${id}, '\\x${'ab'.repeat(32)}', ${name('evt_')}, 202, now())`,
    `insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account,
       rail_selected, fallback, metadata, created_at, document)
     values ('org_bench.test', ${name('pay_')}, 'pending', 2500, 'pm_alice', 'pm_bob', 'outside_sources',
       'outside_destinations', 'ach', true, '{}', now(), '${document}')`,
    `insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
     values ('org_bench.test', ${name('evt_')}, 'payment.pending', ${name('pay_')}, '${document}', now(), now())`,
    `insert into ledger_transfers (tenant_id, id, payment_id, kind, debit_account, credit_account, amount, created_at)
     values ('org_bench.test', ${name('lt_')}, ${name('pay_')}, 'hold', 'outside_sources', 'outside_destinations', 2500, now())`,
    `insert into jobs (name, payload, ready_at) values ('bench.nothing', '[]', now())`,
  ];
}

/**
 * What accepting would cost without batching: the same rows, one transaction per payment, over 16 connections with
 * prepared statements. `pgbench` where the machine has it, because it costs the least per statement; else our driver.
 */
export async function acceptOneByOne(url: string, seconds: number): Promise<number> {
  return pgbench === undefined ? withDriver(url, seconds) : withPgbench(pgbench, url, seconds);
}

const pgbench = findPgbench();

export const peerMaker = pgbench === undefined ? 'our driver, because pgbench is not here' : 'pgbench';

function findPgbench(): string | undefined {
  if (!existsSync(DEBIAN_PROGRAMS)) return undefined;
  return readdirSync(DEBIAN_PROGRAMS)
    .map((version) => join(DEBIAN_PROGRAMS, version, 'bin', 'pgbench'))
    .find((path) => existsSync(path));
}

async function withPgbench(program: string, url: string, seconds: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbench-'));
  const script = join(folder, 'accept.sql');
  const run = `'${randomUUID().slice(0, 8)}'`;
  const id = `(${run} || lpad((:client_id)::text, 3, '0') || lpad((:i)::text, 15, '0'))`;
  const lines = statements(id, (value) => `'${value}'`).map(
    // A colon before a word is a variable of pgbench, so JSON gets a space there.
    (statement) => `${statement.replaceAll(/\s+/g, ' ').replaceAll('":', '": ')};`,
  );
  await writeFile(script, ['\\set i :i + 1', 'begin;', ...lines, 'commit;', ''].join('\n'));
  const args = [
    '-n',
    '-M',
    'prepared',
    '-c',
    String(CONNECTIONS),
    '-j',
    '2',
    '-T',
    String(seconds),
    '-D',
    'i=0',
    '-f',
    script,
    url,
  ];
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      env: { ...process.env, PGOPTIONS: '-c search_path=payments' },
    });
    const rate = /tps = ([\d.]+)/.exec(stdout)?.[1];
    if (rate === undefined) throw new Error(`pgbench said: ${stdout}`);
    return Number(rate);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function withDriver(url: string, seconds: number): Promise<number> {
  const database = await openDatabase({ url, schema: 'payments', connectionsMax: CONNECTIONS });
  const texts = statements('$1::text', (value) => `'${value}'`);
  const end = performance.now() + seconds * 1_000;
  let count = 0;
  const insert = async (tx: Queryable, id: string) => {
    for (const [index, text] of texts.entries()) {
      await tx.query({ name: `bench.${index}`, text }, text.includes('$1') ? [id] : []);
    }
  };
  const worker = async () => {
    while (performance.now() < end) {
      await database.transaction((tx) => insert(tx, randomUUID()));
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await database.close();
  return count / seconds;
}
