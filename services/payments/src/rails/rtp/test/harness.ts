/** The payments service as the product builds it, with this rail on lines that a test can break, and a worker. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Queryable } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { enqueueJobs, type Handler, startWorker, type Worker } from '@libs/jobs';
import { createIdFactory, createSealer } from '@libs/seal';
import { createPayments } from '../../../app.ts';
import type { SandboxClock } from '../../../clock/clock.ts';
import { createClocks } from '../../../clock/service.ts';
import { loadConfig } from '../../../config.ts';
import { recordTransfers } from '../../../ledger/service.ts';
import { OUTSIDE_SOURCES } from '../../../ledger/transfer.ts';
import { paymentsMigrations } from '../../../migrations.ts';
import type { NewBankAccount } from '../../../payment-methods/service.ts';
import { behaviourOf, TEST_ROUTING_NUMBER } from '../../../payment-methods/test-accounts.ts';
import type { Payment, RailChoice } from '../../../payments/payment.ts';
import { findPayment } from '../../../payments/store.ts';
import { createQuarantine } from '../../../quarantine/service.ts';
import { type Tenant, tenantOf } from '../../../tenant.ts';
import { createBookRail } from '../../book/rail.ts';
import type { RailDependencies } from '../../dependencies.ts';
import { createMessageVault } from '../../message-vault.ts';
import type { Rail, RailWork } from '../../rail.ts';
import { SANDBOX_NETWORK } from '../lines/connection.ts';
import { accountMarks } from '../network/account-marks.ts';
import { createSandboxRtpNetwork } from '../network/network.ts';
import { createRail, type RtpTrial } from '../rail.ts';
import { readJobs } from '../work/jobs.ts';

export interface HarnessOptions extends Pick<RtpTrial, 'live' | 'policy' | 'wrap'> {
  answerMs?: number;
  wrapHandler?: (handler: Handler) => Handler;
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

export const sealer = createSealer({ keys: [Buffer.alloc(32, 7)] });
const LIVE_BALANCE = 1_000_000_00;
/** A bank that takes instant payments, as the network lists it. */
const LIVE_ROUTING_NUMBER = '021000021';

export const someone: NewBankAccount = {
  routingNumber: TEST_ROUTING_NUMBER,
  accountNumber: '000111222333',
  accountType: 'checking',
  holderName: 'José & Søn 🎉',
  holderType: 'individual',
};

export async function createHarness(options: HarnessOptions = {}) {
  const testDatabase = await createTestDatabase(paymentsMigrations());
  const { database, url } = testDatabase;
  const now = () => new Date();
  const ids = createIdFactory({ now, randomBytes });
  let whenNamed: (paymentId: string) => void = () => {};
  function newId(prefix: string): string {
    const id = ids(prefix);
    if (prefix === 'pay') whenNamed(id);
    return id;
  }
  await database.query(
    `insert into organisations (id, name, created_at) values ($1, 'Acme', now()) on conflict do nothing`,
    [testTenant.organisationId],
  );
  const lines: LogLine[] = [];
  const errors: unknown[] = [];
  const health = { failures: [] as string[], decisive: [] as boolean[], successes: 0 };
  let opened: { rail: Rail; work: RailWork } | undefined;

  async function openRtp(deps: RailDependencies): Promise<Rail> {
    const { live, policy, wrap } = options;
    const write = (level: LogLine['level']) => (fields: object, message: string) =>
      void lines.push({ level, fields: fields as LogLine['fields'], message });
    const rail = await createRail(
      {
        ...deps,
        log: { error: write('error'), warn: write('warn') },
        health: {
          reportFailure: async (_rail, _mode, { cause, decisive }) => {
            health.failures.push(cause);
            health.decisive.push(decisive);
          },
          reportSuccess: async () => {
            health.successes += 1;
          },
        },
      },
      {
        ...(live ? { live } : {}),
        ...(policy ? { policy } : {}),
        ...(wrap ? { wrap } : {}),
        // By a job of their own, as a gateway's answers come: so they can be lost, doubled and held up.
        async deliver(tx, messages) {
          await enqueueJobs(tx, database.schema, readJobs('test', messages));
          return async () => {};
        },
      },
    );
    return {
      ...rail,
      work(needs) {
        const work = rail.work(needs);
        opened = { rail, work };
        return work;
      },
    };
  }

  const service = await createPayments({
    config: loadConfig({
      PAYMENTS_ROLE: 'worker',
      PAYMENTS_LOG_LEVEL: 'silent',
      PAYMENTS_SANDBOX_RTP_MS: String(options.answerMs ?? 0),
    }),
    ...{ database, now, newId },
    secrets: { sealer, adminToken: 'admin_token_of_the_tests' },
    onError: (error) => errors.push(error),
    app: { defaultMetrics: false },
    openRails: async (deps) => [await openRtp(deps), achThatTakesEverything(), createBookRail()],
  });
  assert(opened);
  const { rail: rtp, work: railWork } = opened;
  const { payments: part, methods } = service.parts;
  const clocks = createClocks({ now });
  const vault = createMessageVault(sealer);
  // The network itself, past what stands on the line.
  const network = createSandboxRtpNetwork({
    ...{ database, now, behaviourOf },
    participant: SANDBOX_NETWORK,
    marks: accountMarks(sealer),
  });
  const quarantined = createQuarantine({ database, sealer, now });
  const workers: Worker[] = [];
  let keys = 0;

  async function addMethod(tenant: Tenant, bank: NewBankAccount | null): Promise<string> {
    const { method } = await database.transaction((tx) =>
      methods.paymentMethods.create(tx, tenant, { bank, metadata: {} }),
    );
    return method.id;
  }

  /** Money that is held here, and somebody to send it to: live, no account comes from its name alone. */
  async function openLive(): Promise<{ source: string; destination: string }> {
    const destination = await addMethod(liveTenant, { ...someone, routingNumber: LIVE_ROUTING_NUMBER });
    const source = await addMethod(liveTenant, null);
    const fund = { kind: 'fund', rail: null, paymentId: null, amount: LIVE_BALANCE, fee: 0 } as const;
    await recordTransfers(database, [
      {
        ...{ ...fund, tenantId: liveTenant.id, id: newId('lt'), createdAt: now() },
        ...{ debitAccount: OUTSIDE_SOURCES, creditAccount: source },
      },
    ]);
    return { source, destination };
  }
  const live = await openLive();

  async function payment({ tenantId, id }: Pick<Payment, 'tenantId' | 'id'>): Promise<Payment> {
    const found = await findPayment(database, { tenantId, id });
    assert(found, 'the payment is not stored');
    return found;
  }

  async function payOne(input: PayInput): Promise<Payment> {
    const tenant = input.tenant ?? testTenant;
    const ends = tenant.mode === 'live' ? live : { source: 'pm_source', destination: 'pm_destination' };
    keys += 1;
    const key = `key ${keys}`;
    const { body } = await part.payments.create({
      ...{ tenant, path: '/v1/payments', key, canonicalBody: key, refundOf: null },
      input: {
        amount: input.amount ?? 12_345,
        currency: 'USD',
        sourceId: input.source ?? ends.source,
        destinationId: input.destination ?? ends.destination,
        rail: input.rail ?? 'rtp',
        prefer: 'speed',
        fallback: input.fallback ?? false,
        description: input.description ?? null,
        metadata: {},
      },
    });
    return payment({ tenantId: tenant.id, id: (JSON.parse(body) as { id: string }).id });
  }

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
    ...{ database, url, network, rtp, railWork, quarantined, lines, errors, health, addMethod, payment },
    processing: part.processing,
    messages,
    /** As the payment's owner reads them. */
    shown: part.messages,

    async work(): Promise<void> {
      const worker = await startWorker({
        ...{ database, now, onError: (error: unknown) => errors.push(error) },
        handlers: part.handlers.map((handler) => options.wrapHandler?.(handler) ?? handler),
      });
      workers.push(worker);
    },

    setClock: (clock: SandboxClock) =>
      database.transaction((tx) => clocks.set(tx, testTenant.organisationId, clock)),

    pay: (inputs: readonly PayInput[]): Promise<Payment[]> => Promise.all(inputs.map(payOne)),

    /** All together, each known by its id before anything of it leaves. */
    async payNamed(
      inputs: readonly PayInput[],
      named: (id: string, index: number) => void,
    ): Promise<Payment[]> {
      const given: string[] = [];
      whenNamed = (id) => named(id, given.push(id) - 1);
      const paid = await Promise.all(inputs.map(payOne));
      const ids = paid.map(({ id }) => id);
      assert.deepEqual(ids, given, 'payments that were asked for together were not named in that order');
      return paid;
    },

    messagesOf: ({ tenantId, id }: Payment) =>
      messages('where tenant_id = $1 and payment_id = $2 order by id', [tenantId, id]),

    async quarantine() {
      const items = await quarantined.list({
        rail: null,
        mode: null,
        status: null,
        before: null,
        limit: 1_000,
      });
      const whole = await Promise.all(items.toReversed().map(({ id }) => quarantined.get(id)));
      return whole.map(({ content, reason }) => ({ content, reason }));
    },

    async read(mode: 'test' | 'live', texts: readonly string[]): Promise<void> {
      await enqueueJobs(database, database.schema, readJobs(mode, texts));
    },

    async jobsLeft(): Promise<number> {
      const { rows } = await database.query<{ n: number }>('select count(*)::int as n from jobs');
      return rows[0]?.n ?? 0;
    },

    async stop(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.drain()));
      await service.close();
      await testDatabase.drop();
    },
  };
}

export type Harness = Awaited<ReturnType<typeof createHarness>>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Stands in for the other rail, so that a reroute is seen in the payment. */
function achThatTakesEverything(): Rail {
  return {
    ...createBookRail(),
    id: 'ach',
    possible: ({ at }) => ({
      rail: 'ach',
      obstacles: [],
      options: [{ fee: 20, settlesAt: new Date(at.getTime() + DAY_MS), sameDay: false }],
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
