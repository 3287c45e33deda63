// What the database enforces, held against what the code says: SQL stands still, code does not.
import { readFileSync } from 'node:fs';
import type { Queryable } from '@libs/db';
import { createTestDatabase, somebodyWaits, type TestDatabase } from '@libs/db/testing';
import type { AuditedCall } from '@libs/http';
import type { ChallengeKind, MailTokenKind } from '@libs/login';
import type { SealedColumn } from '@libs/rotation';
import { createSealer } from '@libs/seal';
import type { DeliveryStatus } from '@libs/webhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LiveAccess } from '../../services/payments/src/keys/key.ts';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import type { BankAccount, PaymentMethod } from '../../services/payments/src/payment-methods/method.ts';
import { moves, paymentStatuses, reachableFrom } from '../../services/payments/src/payments/states.ts';
import { roles } from '../../services/payments/src/people/person.ts';
import { QUARANTINE_STATUSES } from '../../services/payments/src/quarantine/quarantine.ts';
import type { AchEntryState, AchLeg } from '../../services/payments/src/rails/ach/entries/entry.ts';
import type { SubmissionState } from '../../services/payments/src/rails/rtp/submissions/submission.ts';
import { sealedColumns } from '../../services/payments/src/rotation/columns.ts';
import { PAYMENTS_SCHEMAS, PAYMENTS_TABLES } from '../../services/payments/src/spreading/tables.ts';
import type { Mode } from '../../services/payments/src/tenant.ts';
import type { WebhookEndpoint } from '../../services/payments/src/webhooks/endpoint.ts';
import { STORED_STATUSES } from '../../services/toolhub/src/approvals/approval.ts';
import { USAGE_GROUPS } from '../../services/toolhub/src/billing/plan.ts';
import type { CredentialStatus } from '../../services/toolhub/src/credentials/credential.ts';
import { INVOICE_STATUSES } from '../../services/toolhub/src/invoices/states.ts';
import { sealedColumns as toolhubSealedColumns } from '../../services/toolhub/src/rotation/columns.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';
import { TOOLHUB_SCHEMAS, TOOLHUB_TABLES } from '../../services/toolhub/src/spreading/tables.ts';
import type { SwitchKind } from '../../services/toolhub/src/tools/store.ts';
import { type ListCheck, readListChecks, readSealedColumns } from './catalogue.ts';
import { DELETED_IN_STEPS, DIVIDED, findTablesThatExpire } from './expiring.ts';
import { findPlacementFaults } from './placement.ts';

/** The names of a union of the code: the compiler refuses one that is missing and one too many. */
function namesOf<Name extends string>(names: Record<Name, true>): string[] {
  return Object.keys(names).sort();
}

const byName = (lists: Record<string, readonly string[]>): ListCheck[] =>
  Object.entries(lists)
    .map(([column, values]) => ({ column, values: [...values].sort() }))
    .sort((a, b) => (a.column < b.column ? -1 : 1));

let payments: TestDatabase;
let toolhub: TestDatabase;

beforeAll(async () => {
  [payments, toolhub] = await Promise.all([
    createTestDatabase(paymentsMigrations()),
    createTestDatabase(migrationSource),
  ]);
});
afterAll(() => Promise.all([payments.drop(), toolhub.drop()]));

/** A delivery waits in the queue and ends in this table, so `pending` is never written there. */
const finished = namesOf<Exclude<DeliveryStatus, 'pending'>>({
  delivered: true,
  failed: true,
  abandoned: true,
  dead: true,
});

describe('lists of values', () => {
  test('payments: each is the one of the code', async () => {
    const expected = byName({
      'ach_entries.leg': namesOf<AchLeg>({ debit: true, credit: true, refund: true }),
      'ach_entries.state': namesOf<AchEntryState>({
        queued: true,
        sent: true,
        settled: true,
        returned: true,
        refused: true,
        canceled: true,
        overruled: true,
      }),
      'ach_replies.kind': ['noc', 'return'],
      'api_keys.mode': namesOf<Mode>({ test: true, live: true }),
      'audit_entries.outcome': namesOf<AuditedCall['outcome']>({
        success: true,
        refused: true,
        failure: true,
      }),
      'deliveries.status': finished,
      'invitations.role': roles,
      'ledger_transfers.kind': [
        ...new Set(moves.flatMap((move) => move.money ?? [])),
        'fund',
        'owe',
        'repay',
      ],
      'mail_tokens.kind': namesOf<MailTokenKind>({ verify: true, reset: true }),
      'memberships.role': roles,
      'organisations.live_access': namesOf<LiveAccess>({
        none: true,
        requested: true,
        approved: true,
        refused: true,
      }),
      'passkey_challenges.kind': namesOf<ChallengeKind>({
        register: true,
        log_in: true,
        second_factor: true,
      }),
      'payment_methods.account_type': namesOf<BankAccount['accountType']>({ checking: true, savings: true }),
      'payment_methods.holder_type': namesOf<BankAccount['holderType']>({ individual: true, business: true }),
      'payment_methods.type': namesOf<PaymentMethod['type']>({ bank_account: true, balance: true }),
      'payments.status': paymentStatuses,
      'rail_health.state': ['up', 'down'],
      'rail_messages.direction': ['in', 'out'],
      'rail_quarantine.status': QUARANTINE_STATUSES,
      'rtp_submissions.state': namesOf<SubmissionState>({
        sent: true,
        unknown: true,
        accepted: true,
        rejected: true,
        not_sent: true,
      }),
      'sandbox_ach_answers.kind': ['noc', 'return'],
      'sandbox_ach_entries.direction': ['credit', 'debit'],
      'sandbox_rtp_orders.status': ['ACTC', 'RJCT'],
      'sandbox_rtp_transfers.status': ['ACTC', 'RJCT'],
      'webhook_endpoints.status': namesOf<WebhookEndpoint['status']>({ enabled: true, disabled: true }),
    });
    expect(await readListChecks(payments.database, PAYMENTS_SCHEMAS)).toEqual(expected);
  });

  test('toolhub: each is the one of the code', async () => {
    const expected = byName({
      'approvals.status': STORED_STATUSES,
      'credentials.status': namesOf<CredentialStatus>({ connected: true, expired: true }),
      'deliveries.status': finished,
      'invoices.mail_state': ['canceled', 'failed', 'pending', 'sending', 'sent', 'waiting'],
      'invoices.status': INVOICE_STATUSES,
      'mail_tokens.kind': namesOf<MailTokenKind>({ verify: true, reset: true }),
      'oauth_clients.kind': ['own', 'registered'],
      'oauth_tokens.kind': ['access', 'refresh'],
      'passkey_challenges.kind': namesOf<ChallengeKind>({
        register: true,
        log_in: true,
        second_factor: true,
      }),
      'tool_switches.kind': namesOf<SwitchKind>({ platform: true, tool: true }),
      'usage_rollups.grouping': USAGE_GROUPS,
      'usage_rollups.span': ['day', 'month'],
      'whatsapp_unclaimed.kind': ['message', 'status'],
    });
    expect(await readListChecks(toolhub.database, TOOLHUB_SCHEMAS)).toEqual(expected);
  });
});

test('payments move in the database as in the table of states, pair by pair', async () => {
  const { database } = payments;
  for (const from of paymentStatuses) {
    for (const to of paymentStatuses) {
      const id = `pay_${from}_${to}`;
      await database.query(
        `insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account,
           rail_selected, fallback, metadata, created_at, document)
         values ('org.test', $1, $2, 1, 'a', 'b', 'a', 'b', 'ach', false, '{}', now(), '{}')`,
        [id, from],
      );
      const moved = await database
        .query(`update payments set status = $2 where tenant_id = 'org.test' and id = $1`, [id, to])
        .then(
          () => true,
          (error: { code?: string; message: string }) => {
            expect(error).toMatchObject({
              code: '23514',
              message: `payment ${id} cannot go from ${from} to ${to}`,
            });
            return false;
          },
        );
      expect([from, to, moved]).toEqual([from, to, from === to || reachableFrom(from).includes(to)]);
    }
  }
});

describe('payments that are not completed are listed, whoever writes them', () => {
  const insert = (
    tenant: string,
    ids: readonly string[],
    status: string,
  ) => `insert into payments (tenant_id, id, status,
      amount, source_id, destination_id, debit_account, credit_account, rail_selected, fallback, metadata, created_at, document)
    select '${tenant}', id, '${status}', 1, 'a', 'b', 'a', 'b', 'rtp', false, '{}', now(), '{}'
    from unnest('{${ids.join(',')}}'::text[]) as id`;

  async function expectListed(db: Queryable): Promise<number> {
    const rowsOf = async (sql: string) => (await db.query(`${sql} order by tenant_id, id`)).rows;
    const listed = await rowsOf('select tenant_id, id, status from payments_uncompleted');
    expect(listed).toEqual(
      await rowsOf(`select tenant_id, id, status from payments where status <> 'completed'`),
    );
    return listed.length;
  }

  test('many at once, each as it moves, also those that go', async () => {
    await payments.database.transaction(async (tx) => {
      await tx.query('delete from payments');
      expect(await expectListed(tx)).toBe(0);
      for (const status of paymentStatuses) {
        await tx.query(insert('org_a.test', [`pay_${status}`, `pay_${status}2`], status));
        await tx.query(insert('org_b.test', [`pay_${status}`], status));
      }
      expect(await expectListed(tx)).toBe(3 * (paymentStatuses.length - 1));
      await tx.query(`update payments set document = '{"a":1}'`);
      await tx.query(`update payments set status = case status when 'pending' then 'processing'
        when 'processing' then case tenant_id when 'org_a.test' then 'completed' else 'failed' end
        when 'completed' then 'returned' else status end`);
      expect(await expectListed(tx)).toBe(3 * paymentStatuses.length - 2);
      await tx.query(`delete from payments where id like '%2'`);
      expect(await expectListed(tx)).toBe(2 * paymentStatuses.length - 1);
    });
  });

  test('those that were there before: the one that moves meanwhile as what it became', async () => {
    const fill = readFileSync(
      new URL('../../services/payments/migrations/0030_payments_uncompleted_filled.sql', import.meta.url),
      'utf8',
    );
    const { database } = payments;
    await database.query('delete from payments');
    await database.query(insert('org.test', ['pay_1', 'pay_2', 'pay_3'], 'processing'));
    await database.query('delete from payments_uncompleted');
    const [moved, waited] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const moving = database.transaction(async (tx) => {
      await tx.query(`update payments set status = 'completed' where id = 'pay_1'`);
      await tx.query(`update payments set status = 'failed' where id = 'pay_2'`);
      moved.resolve();
      await waited.promise;
    });
    await moved.promise;
    const filling = database.query(fill);
    await expect.poll(() => somebodyWaits(database)).toBe(true);
    waited.resolve();
    await Promise.all([moving, filling]);
    expect(await expectListed(database)).toBe(2);
  });

  test('a payment that moves stays where it is, and writes to no index', async () => {
    const changesOf = async (tx: Queryable) => {
      const { rows } = await tx.query<{ all: number; in_place: number }>(
        `select pg_stat_get_xact_tuples_updated('payments'::regclass)::int as all,
           pg_stat_get_xact_tuples_hot_updated('payments'::regclass)::int as in_place`,
      );
      return rows[0]!;
    };
    await payments.database.transaction(async (tx) => {
      await tx.query(insert('org_c.test', ['pay_1', 'pay_2'], 'pending'));
      const before = await changesOf(tx);
      for (const status of ['processing', 'completed', 'returned'])
        await tx.query(`update payments set status = $1, document = $2 where tenant_id = 'org_c.test'`, [
          status,
          // All of them fit into the half of a page that is left free, whatever the other half holds of tests before.
          JSON.stringify({ status, more: 'x'.repeat(200) }),
        ]);
      const after = await changesOf(tx);
      expect([after.all - before.all, after.in_place - before.in_place]).toEqual([6, 6]);
    });
  });
});

describe('every sealed column is in the list by which keys rotate', () => {
  const listed = (columns: readonly SealedColumn[]) =>
    columns.map(({ table, column, key }) => `${table}.${column} by ${Object.keys(key).join(', ')}`).sort();

  test('payments', async () => {
    const columns = sealedColumns(createSealer({ keys: [Buffer.alloc(32, 7)] }));
    expect(await readSealedColumns(payments.database, PAYMENTS_SCHEMAS)).toEqual(listed(columns));
  });

  test('toolhub', async () => {
    expect(await readSealedColumns(toolhub.database, TOOLHUB_SCHEMAS)).toEqual(listed(toolhubSealedColumns));
  });
});

describe('every table is in its list, and can be spread as the list says', () => {
  test('payments', async () => {
    expect(await findPlacementFaults(payments.database, PAYMENTS_SCHEMAS, PAYMENTS_TABLES)).toEqual([]);
  });

  test('toolhub', async () => {
    expect(await findPlacementFaults(toolhub.database, TOOLHUB_SCHEMAS, TOOLHUB_TABLES)).toEqual([]);
  });

  test('a planted fault of each kind is found', async () => {
    const { database } = payments;
    await database.query(`create schema planted;
      create table planted.owners (tenant_id text collate "C" primary key);
      create table planted.parcels (
        id text primary key, tenant_id text collate "C" references planted.owners, name text);
      create table planted.keys (tenant_id text collate "C" references planted.owners);
      create table planted.stray (id int primary key);
      create function planted.loose() returns int language sql as 'select 1';
      create function planted.bound() returns int language sql return 1;
      create function planted.pinned() returns int language sql set search_path from current as 'select 1';`);
    const faults = await findPlacementFaults(database, ['planted'], {
      'planted.owners': { placement: 'by tenant', by: 'tenant_id' },
      'planted.parcels': { placement: 'by tenant', by: 'tenant_id' },
      'planted.keys': { placement: 'local' },
      'planted.gone': { placement: 'by tenant' },
    });
    expect(faults.sort()).toEqual([
      'keys_tenant_id_fkey leads from planted.keys to planted.owners, which is placed otherwise: drop it',
      'parcels_pkey does not begin with tenant_id',
      'planted.gone does not say by which column',
      'planted.gone has no primary key',
      'planted.gone is listed and does not exist',
      'planted.keys does not say why it is not spread by tenant',
      "planted.loose() finds its tables by the caller's path: set search_path from current, or return …",
      'planted.parcels.id names or orders rows: collate "C"',
      'planted.stray is in no list: place it',
    ]);
    await database.query('drop schema planted cascade');
  });
});

describe('what expires', () => {
  test('goes by whole parts, or the list says why it does not', () => {
    const divided = new Set(DIVIDED.map((name) => name.split('.')[1]));
    const found = findTablesThatExpire();
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter((name) => !divided.has(name) && !(name in DELETED_IN_STEPS))).toEqual([]);
  });

  test.each(['payments', 'toolhub'])('%s: the tables of the list are divided', async (product) => {
    const { database } = product === 'payments' ? payments : toolhub;
    const { rows } = await database.query<{ name: string }>(
      `select format('%s.%s', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'p' order by 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual(DIVIDED.filter((name) => name.startsWith(product)));
  });
});
