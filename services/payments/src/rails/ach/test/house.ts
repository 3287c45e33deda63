import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { enqueueJobs, startWorker, type Worker } from '@libs/jobs';
import { createIdFactory, createSealer } from '@libs/seal';
import { createClocks } from '../../../clock/service.ts';
import { createEventService } from '../../../events/service.ts';
import { checkLedger, recordTransfers } from '../../../ledger/service.ts';
import { OUTSIDE_SOURCES } from '../../../ledger/transfer.ts';
import { paymentsMigrations } from '../../../migrations.ts';
import { createDirectory, readParticipants } from '../../../payment-methods/directory.ts';
import { createPaymentMethods, type NewBankAccount } from '../../../payment-methods/service.ts';
import { behaviourOf } from '../../../payment-methods/test-accounts.ts';
import { createAcceptance } from '../../../payments/accept/accept.ts';
import type { PaymentInput } from '../../../payments/accept/draft.ts';
import type { Payment } from '../../../payments/payment.ts';
import { createProcessing } from '../../../payments/processing.ts';
import { createPaymentReading } from '../../../payments/reading.ts';
import { createPaymentsService } from '../../../payments/service.ts';
import { findPayment, lockPayments } from '../../../payments/store.ts';
import { createQuarantine } from '../../../quarantine/service.ts';
import { createRouting } from '../../../routing/service.ts';
import { ROUTING_TERMS } from '../../../routing/terms.ts';
import { createSandboxService } from '../../../sandbox/service.ts';
import { type Mode, type Tenant, tenantOf } from '../../../tenant.ts';
import { createBookRail } from '../../book/rail.ts';
import { createRailMessages } from '../../messages.ts';
import type { ForcedOutcome } from '../../rail.ts';
import { createTransportFor } from '../bank/connections.ts';
import type { AchTransport } from '../bank/transport.ts';
import type { AchScope } from '../entries/scope.ts';
import { forceOnAch, lockForForcing, meaningOnAch } from '../forcing.ts';
import { achMessagesOf } from '../messages.ts';
import { createAchOperator } from '../operator/operator.ts';
import type { Originator } from '../outgoing/files.ts';
import { createAchCarrier } from '../outgoing/orders.ts';
import { SANDBOX_ORIGINATOR } from '../outgoing/originator.ts';
import { createPace } from '../schedule/schedule.ts';
import { DEFAULT_ACH_TERMS } from '../schedule/terms.ts';
import type { AchContext } from '../work/context.ts';
import { createAchHandlers } from '../work/handlers.ts';
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
  /** The line to a bank for live payments. */
  live?: { transport: AchTransport; originator: Originator };
}

const IDLE_POLL_MS = 10;
const IDLE_WAIT_MS = 60_000;

export async function createHouse(options: HouseOptions = {}) {
  const testDatabase = await createTestDatabase(paymentsMigrations());
  const { database } = testDatabase;
  const databases = { live: database, test: database };
  const now = options.now ?? (() => new Date());
  const newId = createIdFactory({ now: () => new Date(), randomBytes });
  const sealer = createSealer({ keys: [Buffer.alloc(32, 7)] });
  const alerts: { fields: object; message: string }[] = [];
  const errors: unknown[] = [];
  const live = options.live ?? null;
  const failures: object[] = [];
  const pace = createPace(options.sandboxMs ?? 300, {
    ...DEFAULT_ACH_TERMS,
    debitHoldBankingDays: options.holdDays ?? 0,
  });
  const rails = [
    createAchCarrier({ pace, isConfigured: (mode) => mode === 'test' || live !== null }),
    createBookRail(),
  ];
  const clocks = createClocks({ now });
  const routing = createRouting({ rails, terms: ROUTING_TERMS, isUp: () => true });
  const events = createEventService({ database, databases, now, deliver: async () => {} });
  const reading = createPaymentReading({ databases });
  const paymentMethods = createPaymentMethods({
    databases,
    sealer,
    directory: createDirectory(readParticipants()),
    now,
    newId,
    events,
    payments: reading,
  });
  const shared = { database, routing, now, newId, findMethods: paymentMethods.find, clocks };
  const processing = createProcessing({ ...shared, rails, recordEvents: events.record });
  const subscriptions = { hasSubscribers: () => false, enqueue: async () => {}, deliver: async () => {} };
  const features = { paymentMethods, subscriptions };
  const accept = createAcceptance({ ...shared, ...features, databases });
  const payments = createPaymentsService({ ...shared, ...features, reading, accept, processing });
  const methods = paymentMethods;
  const operator = createAchOperator({
    database,
    now,
    terms: pace.terms,
    originator: SANDBOX_ORIGINATOR,
    sandboxMs: pace.sandboxMs,
    behaviourOf,
  });
  const lines = createTransportFor({ sandbox: operator, live: live?.transport ?? null });
  const wrap = options.wrap ?? ((transport: AchTransport) => transport);
  const context: AchContext = {
    database,
    now,
    newId,
    log: {
      error: (fields, message) => void alerts.push({ fields, message }),
      warn: () => {},
    },
    pace,
    operator,
    representmentsWanted: options.representments ?? 0,
    originators: { test: SANDBOX_ORIGINATOR, live: live?.originator ?? null },
    transportFor: (scope) => {
      const transport = lines(scope);
      return transport && wrap(transport, scope);
    },
    health: {
      reportFailure: async (_rail, _mode, failure) => void failures.push(failure),
      reportSuccess: async () => {},
    },
    sealer,
    quarantine: createQuarantine({ database, sealer, now }),
    lockPayments,
    applyOutcomes: processing.applyOutcomes,
    findMethods: methods.find,
    openAccountNumber: methods.openAccountNumber,
    applyCorrection: methods.applyCorrection,
    clocks,
  };
  const sandbox = createSandboxService({
    database,
    processing,
    clocks,
    now,
    newId,
    getPayment: payments.get,
    rails: {
      force: (tx, payment, order) => forceOnAch(context, tx, payment, order),
      whenClockMoves: (tenantId) => [wakeUp(tenantId)],
      lockFor: lockForForcing,
    },
    meaningOf: (_rail, outcome, code) => meaningOnAch(outcome, code),
    getBalance: async (tx, tenant, id) => (await methods.get(tenant, id, tx)).method,
  });
  const workers: Worker[] = [];

  async function startWorking(): Promise<Worker> {
    const { handlers, cron } = createAchHandlers(context);
    const worker = await startWorker({
      database,
      handlers: [processing.submitHandler, ...handlers],
      cron,
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
    errors,
    failures,
    startWorking,
    addTenant,
    pay,
    openBalance,
    addAccount,
    get,
    idle,
    moveClock,
    setClock,
    cancel,
    force,
    close,
    messages: createRailMessages({
      database,
      rails: [
        { messageKinds: ['nacha', 'return', 'noc'], messagesOf: (db, key) => achMessagesOf(db, sealer, key) },
      ],
    }),
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
