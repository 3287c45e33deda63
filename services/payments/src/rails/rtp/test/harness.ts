/** The rail, the sandbox network, the payments feature and a worker on a real database, as the service wires them. */
import { randomBytes } from 'node:crypto';
import type { Database, Queryable } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { enqueueJobs, type Handler, startWorker, type Worker } from '@libs/jobs';
import { createIdFactory, createSealer } from '@libs/seal';
import type { SandboxClock } from '../../../clock/clock.ts';
import { createClocks } from '../../../clock/service.ts';
import { insertEvents } from '../../../events/store.ts';
import { OUTSIDE_DESTINATIONS, OUTSIDE_SOURCES } from '../../../ledger/transfer.ts';
import { paymentsMigrations } from '../../../migrations.ts';
import type { PaymentMethod } from '../../../payment-methods/method.ts';
import {
  accountNumberFor,
  behaviourOf,
  TEST_ROUTING_NUMBER,
} from '../../../payment-methods/test-accounts.ts';
import { insertAccepted } from '../../../payments/accept/store.ts';
import { eventOf, transferOf } from '../../../payments/moves.ts';
import { newAttempt } from '../../../payments/outcomes.ts';
import { type Payment, type RailChoice, toApi } from '../../../payments/payment.ts';
import { createProcessing, type Processing } from '../../../payments/processing.ts';
import { findPayment } from '../../../payments/store.ts';
import { createQuarantine } from '../../../quarantine/service.ts';
import { createRouting } from '../../../routing/service.ts';
import { ROUTING_TERMS } from '../../../routing/terms.ts';
import { parseTenantId, type Tenant, tenantOf } from '../../../tenant.ts';
import { createMessageVault } from '../../message-vault.ts';
import { createRailMessages } from '../../messages.ts';
import type { Carrier } from '../../rail.ts';
import { shownMessages } from '../kept/kept-messages.ts';
import { type RtpConnections, SANDBOX_NETWORK, sandboxConnection } from '../lines/connection.ts';
import { createSandboxTransport } from '../lines/sandbox.ts';
import type { RtpTransport } from '../lines/transport.ts';
import { accountMarks } from '../network/account-marks.ts';
import { createSandboxRtpNetwork, type SandboxRtpNetwork } from '../network/network.ts';
import { createRtpCarrier } from '../sending/orders.ts';
import type { InquiryPolicy } from '../submissions/submission.ts';
import { RTP_TERMS } from '../terms.ts';
import type { RtpWorkerDependencies } from '../work/context.ts';
import { createRtpHandlers } from '../work/handlers.ts';
import { readJobs } from '../work/jobs.ts';

export interface HarnessOptions {
  answerMs?: number;
  policy?: Partial<InquiryPolicy>;
  live?: RtpConnections['live'];
  wrapTransport?: (transport: RtpTransport) => RtpTransport;
  wrapHandler?: (handler: Handler, database: Database) => Handler;
}

export interface PayInput {
  destination?: string;
  source?: string;
  amount?: number;
  rail?: RailChoice;
  fallback?: boolean;
  tenant?: Tenant;
  description?: string | null;
}

export interface LogLine {
  level: 'error' | 'warn';
  fields: Record<string, unknown>;
  message: string;
}

export const testTenant = tenantOf('org_1', 'test');
export const liveTenant = tenantOf('org_1', 'live');

export async function createHarness(options: HarnessOptions = {}) {
  const { database, url, drop } = await createTestDatabase(paymentsMigrations());
  const now = () => new Date();
  const newId = createIdFactory({ now, randomBytes });
  await database.query(
    `insert into organisations (id, name, created_at) values ($1, 'Acme', now()) on conflict do nothing`,
    [testTenant.organisationId],
  );
  const sealer = createSealer({ keys: [Buffer.alloc(32, 7)] });
  const vault = createMessageVault(sealer);
  const lines: LogLine[] = [];
  const errors: unknown[] = [];
  const log = {
    error: (fields: object, message: string) =>
      void lines.push({ level: 'error', fields: fields as Record<string, unknown>, message }),
    warn: (fields: object, message: string) =>
      void lines.push({ level: 'warn', fields: fields as Record<string, unknown>, message }),
  };
  const clocks = new Map<string, SandboxClock>();
  const network: SandboxRtpNetwork = createSandboxRtpNetwork({
    database,
    participant: SANDBOX_NETWORK,
    behaviourOf,
    marks: accountMarks(sealer),
    now,
  });
  const transport = createSandboxTransport({ network, answerMs: options.answerMs ?? 0, log });
  const sandbox = sandboxConnection(options.wrapTransport?.(transport) ?? transport);
  const connections: RtpConnections = {
    test: { ...sandbox, policy: { ...sandbox.policy, ...options.policy } },
    live: options.live ?? null,
  };
  const quarantine = createQuarantine({ database, sealer, now: () => new Date() });
  const rtp = createRtpCarrier({
    terms: RTP_TERMS,
    connections,
    openAccountNumber: (method) => method.bank?.accountSealed.toString() ?? '',
    newId,
    vault,
    log,
  });
  const rails = [rtp, achThatTakesEverything()];
  const processing: Processing = createProcessing({
    database,
    rails,
    routing: createRouting({ rails, terms: ROUTING_TERMS, isUp: () => true }),
    newId,
    findMethods: async (_db, keys) => keys.map(({ tenantId, id }) => methodOf(tenantId, id)),
    clocks: createClocks({ now, find: async () => clocks }),
    recordEvents: insertEvents,
  });
  const health = { failures: [] as string[], successes: 0 };
  const context: RtpWorkerDependencies = {
    database,
    connections,
    applyOutcomes: processing.applyOutcomes,
    clocks: createClocks({ now, find: async () => clocks }),
    health: {
      reportFailure: async (_rail, _mode, failure) => void health.failures.push(failure.cause),
      reportSuccess: async () => {
        health.successes += 1;
      },
    },
    now,
    newId,
    vault,
    quarantine,
    log,
  };
  const handlers = createRtpHandlers(context);
  const workers: Worker[] = [];

  /** Messages as they were sent and received. */
  async function messages(which: string, values: readonly unknown[] = [], db: Queryable = database) {
    const { rows } = await db.query<{
      tenant_id: string;
      id: string;
      direction: string;
      kind: string;
      content: string | null;
      content_sealed: Buffer | null;
      packed_sealed: Buffer | null;
      created_at: Date;
    }>(
      `select tenant_id, id, direction, kind, content, content_sealed, packed_sealed, created_at from rail_messages ${which}`,
      [...values],
    );
    return rows.map(
      ({
        tenant_id: tenantId,
        id,
        content,
        content_sealed: contentSealed,
        packed_sealed: packedSealed,
        ...row
      }) => ({
        ...row,
        content: vault.open({ tenantId, id }, { content, contentSealed, packedSealed }),
      }),
    );
  }

  return {
    database,
    context,
    quarantined: quarantine,
    url,
    network,
    rtp,
    processing,
    handlers,
    clocks,
    lines,
    errors,
    health,
    newId,

    async work(): Promise<Worker> {
      // By a job of their own, as a gateway's answers come: so they can be lost, doubled and held up.
      const answers = network.handlers(async (tx, messages) => {
        await enqueueJobs(tx, database.schema, readJobs('test', messages));
        return async () => {};
      });
      const all = [...handlers, ...answers, processing.submitHandler];
      const worker = await startWorker({
        database,
        handlers: all.map((handler) => options.wrapHandler?.(handler, database) ?? handler),
        now,
        onError: (error) => errors.push(error),
      });
      workers.push(worker);
      return worker;
    },

    async pay(
      inputs: readonly PayInput[],
      beforeStored: (payments: readonly Payment[]) => void = () => {},
    ): Promise<Payment[]> {
      const at = now();
      const drafts = inputs.map((input) => draftPayment(input, { at, newId, clocks }));
      beforeStored(drafts);
      await insertAccepted(
        database,
        drafts.map((payment) => ({
          path: '/v1/payments',
          key: payment.id,
          canonicalBody: payment.id,
          payment,
          event: eventOf(payment, 'payment.pending', JSON.stringify(toApi(payment)), {
            at,
            realNow: at,
            newId,
          }),
          hold: transferOf(payment, 'hold', { at, newId }),
        })),
      );
      return drafts;
    },

    async payment({ tenantId, id }: Payment): Promise<Payment> {
      const found = await findPayment(database, { tenantId, id });
      if (!found) throw new Error('the payment is not stored');
      return found;
    },

    messages,

    /** As the payment's owner reads them. */
    shown: createRailMessages({
      database,
      rails: [{ messageKinds: [], messagesOf: (db, key) => shownMessages(db, vault, key) }],
    }),

    messagesOf: ({ tenantId, id }: Payment) =>
      messages('where tenant_id = $1 and payment_id = $2 order by id', [tenantId, id]),

    async quarantine() {
      const items = await quarantine.list({ rail: null, status: null, before: null, limit: 1_000 });
      const whole = await Promise.all(items.toReversed().map(({ id }) => quarantine.get(id)));
      return whole.map(({ content, reason }) => ({ content, reason }));
    },

    async read(mode: 'test' | 'live', messages: readonly string[]): Promise<void> {
      await enqueueJobs(database, database.schema, readJobs(mode, messages));
    },

    async jobsLeft(): Promise<number> {
      const { rows } = await database.query<{ n: number }>('select count(*)::int as n from jobs');
      return rows[0]?.n ?? 0;
    },

    async stop(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.drain()));
      await drop();
    },
  };
}

export type Harness = Awaited<ReturnType<typeof createHarness>>;

export function methodOf(tenantId: string, id: string): PaymentMethod {
  const at = new Date(0);
  const accountNumber = accountNumberFor(id);
  return {
    tenantId,
    id,
    type: 'bank_account',
    bank: {
      routingNumber: TEST_ROUTING_NUMBER,
      accountSealed: Buffer.from(accountNumber),
      last4: accountNumber.slice(-4),
      fingerprint: accountNumber,
      accountType: 'checking',
      holderName: 'José & Søn 🎉',
      holderType: 'individual',
    },
    railsSend: ['rtp', 'ach'],
    railsReceive: ['rtp', 'ach'],
    metadata: {},
    createdAt: at,
    updatedAt: at,
    deletedAt: null,
  };
}

/** Stands in for the other rail, so that a reroute is seen in the payment. */
function achThatTakesEverything(): Carrier {
  return {
    id: 'ach',
    possible: ({ at }) => ({
      rail: 'ach',
      obstacles: [],
      options: [{ fee: 20, settlesAt: at, sameDay: false }],
    }),
    submit: async (_tx, submissions) => ({
      outcomes: submissions.map(({ payment, attemptId, at }) => ({
        tenantId: payment.tenantId,
        paymentId: payment.id,
        attemptId,
        kind: 'submitted',
        reference: `ach ${payment.id}`,
        at,
      })),
      jobs: [],
    }),
  };
}

function draftPayment(
  input: PayInput,
  context: { at: Date; newId: (prefix: string) => string; clocks: ReadonlyMap<string, SandboxClock> },
): Payment {
  const tenant = input.tenant ?? testTenant;
  const clock = context.clocks.get(tenant.organisationId);
  const at = clock?.state === 'frozen' && tenant.mode === 'test' ? clock.at : context.at;
  return {
    tenantId: tenant.id,
    mode: parseTenantId(tenant.id).mode,
    id: context.newId('pay'),
    status: 'pending',
    amount: input.amount ?? 12_345,
    currency: 'USD',
    sourceId: input.source ?? 'pm_source',
    destinationId: input.destination ?? 'pm_destination',
    debitAccount: OUTSIDE_SOURCES,
    creditAccount: OUTSIDE_DESTINATIONS,
    rail: input.rail ?? 'rtp',
    railSelected: 'rtp',
    fallback: input.fallback ?? false,
    railDecision: { prefer: 'speed', chosen: 'rtp', candidates: [] },
    attempts: [newAttempt(context.newId('att'), 'rtp')],
    timeline: [{ status: 'pending', timestamp: at.toISOString() }],
    failure: null,
    feeAmount: 45,
    refundOf: null,
    refundedAmount: 0,
    description: input.description ?? null,
    metadata: {},
    estimatedSettlementAt: at,
    createdAt: at,
    updatedAt: at,
  };
}
