import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { enqueueJobs, startWorker, type Worker } from '@libs/jobs';
import { createIdFactory, createSealer } from '@libs/seal';
import { createPayments } from '../../../app.ts';
import { loadConfig } from '../../../config.ts';
import { checkLedger } from '../../../ledger/proofs.ts';
import { recordTransfers } from '../../../ledger/service.ts';
import { OUTSIDE_SOURCES } from '../../../ledger/transfer.ts';
import { paymentsMigrations } from '../../../migrations.ts';
import type { NewBankAccount } from '../../../payment-methods/service.ts';
import { behaviourOf } from '../../../payment-methods/test-accounts.ts';
import type { PaymentInput } from '../../../payments/accept/draft.ts';
import type { Payment } from '../../../payments/payment.ts';
import { createRefunds } from '../../../payments/refunds.ts';
import { findPayment } from '../../../payments/store.ts';
import { type Mode, type Tenant, tenantOf } from '../../../tenant.ts';
import { createBookRail } from '../../book/rail.ts';
import type { ForcedOutcome } from '../../rail.ts';
import type { AchTransport } from '../bank/transport.ts';
import type { AchScope } from '../entries/scope.ts';
import { createAchOperator } from '../operator/operator.ts';
import type { Originator } from '../outgoing/files.ts';
import { SANDBOX_ORIGINATOR } from '../outgoing/originator.ts';
import { type FileRejection, rejectFile } from '../outgoing/rejecting.ts';
import { createRail as createAchRail } from '../rail.ts';
import type { AchContext } from '../work/context.ts';
import { wakeUp } from '../work/jobs.ts';

/** The payments service as far as ACH needs it: acceptance, processing, sandbox and worker on a real database. */

export interface HouseOptions {
  /** How long a payment takes without a clock. */
  sandboxMs?: number;
  /** How often debits are presented again. */
  representments?: number;
  /** Banking days until a debit is good; none unless told, so that the calendar of windows shows. */
  holdDays?: number;
  now?: () => Date;
  /** Stands between us and the operator, to break things. */
  wrap?: (transport: AchTransport, scope: AchScope) => AchTransport;
  /** Ids of sealing keys that are given up. */
  lostKeyIds?: readonly string[];
  /** The line to a bank for live payments. */
  live?: { transport: AchTransport; originator: Originator };
}

const IDLE_POLL_MS = 10;
const IDLE_WAIT_MS = 60_000;

export async function createHouse(options: HouseOptions = {}) {
  const testDatabase = await createTestDatabase(paymentsMigrations());
  const { database } = testDatabase;
  const now = options.now ?? (() => new Date());
  const newId = createIdFactory({ now: () => new Date(), randomBytes });
  const alerts: { fields: object; message: string }[] = [];
  const warnings: { fields: object; message: string }[] = [];
  const errors: unknown[] = [];
  const failures: object[] = [];
  const { live, wrap, sandboxMs = 300, holdDays = 0, representments = 0 } = options;
  const contexts: AchContext[] = [];
  const service = await createPayments({
    config: loadConfig({
      PAYMENTS_ROLE: 'worker',
      PAYMENTS_LOG_LEVEL: 'silent',
      PAYMENTS_SANDBOX_ACH_MS: String(sandboxMs),
      PAYMENTS_ACH_DEBIT_HOLD_DAYS: String(holdDays),
      PAYMENTS_ACH_REPRESENT: String(representments),
      ...(options.lostKeyIds && { PAYMENTS_LOST_ENCRYPTION_KEYS: options.lostKeyIds.join(',') }),
    }),
    ...{ database, now, newId },
    secrets: {
      sealer: createSealer({ keys: [Buffer.alloc(32, 7)] }),
      adminToken: 'admin_token_of_the_tests',
    },
    onError: (error) => errors.push(error),
    app: { defaultMetrics: false },
    openRails: async (deps) => [
      await createAchRail(
        {
          ...deps,
          log: {
            error: (fields, message) => void alerts.push({ fields, message }),
            warn: (fields, message) => void warnings.push({ fields, message }),
          },
          health: {
            reportFailure: async (_rail, _mode, failure) => void failures.push(failure),
            reportSuccess: async () => {},
          },
        },
        {
          ...(live ? { live } : {}),
          ...(wrap ? { wrap } : {}),
          onContext: (context) => contexts.push(context),
        },
      ),
      createBookRail(),
    ],
  });
  const [context] = contexts;
  assert(context);
  const { payments: part, methods: methodsPart } = service.parts;
  const { payments, sandbox, messages } = part;
  const methods = methodsPart.paymentMethods;
  const refunds = createRefunds({ reading: methodsPart.reading, accept: payments.create });
  const { clocks, pace } = context;
  // The operator itself, past what stands on the line.
  const operator = createAchOperator({
    ...{ database, now, sandboxMs, behaviourOf },
    ...{ terms: pace.terms, originator: SANDBOX_ORIGINATOR },
  });
  const workers: Worker[] = [];

  async function startWorking(): Promise<Worker> {
    const worker = await startWorker({
      database,
      handlers: part.handlers,
      cron: part.cron,
      now,
      onError: (error) => errors.push(error),
    });
    workers.push(worker);
    return worker;
  }

  async function addTenant(name: string, mode: Mode = 'test'): Promise<Tenant> {
    await database.query('insert into organisations (id, name, created_at) values ($1, $1, now())', [name]);
    return tenantOf(name, mode);
  }

  let keys = 0;
  async function pay(tenant: Tenant, input: Partial<PaymentInput> = {}): Promise<string> {
    keys += 1;
    const whole: PaymentInput = {
      amount: 10_00,
      currency: 'USD',
      sourceId: 'pm_alice',
      destinationId: 'pm_bob',
      rail: 'ach',
      prefer: 'balanced',
      fallback: false,
      description: null,
      metadata: {},
      ...input,
    };
    const key = `key ${keys}`;
    const { body } = await payments.create({
      tenant,
      path: '/v1/payments',
      key,
      canonicalBody: key,
      input: whole,
      refundOf: null,
    });
    return (JSON.parse(body) as { id: string }).id;
  }

  /** All that is left where no amount is given. */
  async function refund(tenant: Tenant, paymentId: string, amount: number | null = null): Promise<string> {
    keys += 1;
    const { body } = await refunds.create(tenant, {
      ...{ paymentId, amount, description: null, metadata: {} },
      path: `/v1/payments/${paymentId}/refunds`,
      key: `key ${keys}`,
    });
    return (JSON.parse(body) as { id: string }).id;
  }

  async function openBalance(tenant: Tenant, amount: number): Promise<string> {
    return database.transaction(async (tx) => {
      const { method } = await methods.create(tx, tenant, { bank: null, metadata: {} });
      await recordTransfers(tx, [
        {
          tenantId: tenant.id,
          id: newId('lt'),
          paymentId: null,
          kind: 'fund',
          rail: null,
          debitAccount: OUTSIDE_SOURCES,
          creditAccount: method.id,
          amount,
          fee: 0,
          createdAt: now(),
        },
      ]);
      return method.id;
    });
  }

  async function addAccount(tenant: Tenant, bank: NewBankAccount): Promise<string> {
    const { method } = await database.transaction((tx) => methods.create(tx, tenant, { bank, metadata: {} }));
    return method.id;
  }

  async function get(tenant: Tenant, id: string): Promise<Payment> {
    const payment = await findPayment(database, { tenantId: tenant.id, id });
    if (!payment) throw new Error(`no payment ${id}`);
    return payment;
  }

  /** Waits until no job is due or under way. */
  async function idle(): Promise<void> {
    const end = Date.now() + IDLE_WAIT_MS;
    while ((await busyJobs(database)) > 0) {
      if (Date.now() > end) throw new Error('the worker does not come to rest');
      await new Promise((done) => setTimeout(done, IDLE_POLL_MS));
    }
  }

  async function setClock(tenant: Tenant, at: Date): Promise<void> {
    // Not by the sandbox, which lets nobody go so far: these tests live in years that no real clock comes near.
    await database.transaction(async (tx) => {
      await clocks.set(tx, tenant.organisationId, { state: 'frozen', at });
      await enqueueJobs(tx, database.schema, [wakeUp(tenant.id)]);
    });
  }

  async function cancel(tenant: Tenant, id: string): Promise<void> {
    await database.transaction((tx) => payments.cancel(tx, tenant, id));
  }

  async function force(
    tenant: Tenant,
    id: string,
    outcome: ForcedOutcome,
    code: string | null,
  ): Promise<void> {
    await database.transaction((tx) => sandbox.force(tx, tenant, id, { outcome, code }));
  }

  async function moveClock(tenant: Tenant, at: Date): Promise<void> {
    await setClock(tenant, at);
    await idle();
  }

  async function close(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.drain()));
    await service.close();
    await testDatabase.drop();
  }

  return {
    database,
    context,
    operator,
    payments,
    methods,
    sandbox,
    alerts,
    warnings,
    errors,
    failures,
    startWorking,
    addTenant,
    pay,
    refund,
    openBalance,
    addAccount,
    get,
    idle,
    /** As the operator does when the bank says so. */
    rejectFile: (id: string, rejection: FileRejection) =>
      database.transaction((tx) => rejectFile(context, tx, id, rejection)),
    moveClock,
    setClock,
    cancel,
    force,
    close,
    messages,
    check: (tenant: Tenant) => checkLedger(database, tenant, now()),
  };
}

export type House = Awaited<ReturnType<typeof createHouse>>;

async function busyJobs(database: Database): Promise<number> {
  const { rows } = await database.query<{ busy: number }>(
    `select count(*)::int as busy from jobs
     where failed_at is null and (attempts > 0 or ready_at <= clock_timestamp())`,
  );
  return rows[0]?.busy ?? 0;
}

/** What a payment went through, as text. */
export function historyOf(payment: Payment): string {
  return payment.timeline.map((entry) => entry.status).join(' > ');
}
