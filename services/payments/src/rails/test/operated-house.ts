import { createApp } from '@libs/http';
import { createMetrics } from '@libs/runtime';
import { createSealer } from '@libs/seal';
import type { AuditService } from '../../audit/service.ts';
import { errors } from '../../errors.ts';
import { createReplyOnce } from '../../idempotency/reply.ts';
import { createIdempotency } from '../../idempotency/service.ts';
import { createGates } from '../../keys/access.ts';
import { type Caller, scopes } from '../../keys/key.ts';
import { createPaymentReading } from '../../payments/reading.ts';
import { createQuarantineResolving } from '../../quarantine/resolving.ts';
import { registerQuarantineRoutes } from '../../quarantine/routes.ts';
import { createQuarantine } from '../../quarantine/service.ts';
import { registerReconciliationRoutes } from '../../reconciliation/routes.ts';
import { createReconciliation } from '../../reconciliation/service.ts';
import { createPaymentsRoutes } from '../../route-rules.ts';
import { type Tenant, tenantOf } from '../../tenant.ts';
import { achBooks } from '../ach/books/books.ts';
import { createAchFiles } from '../ach/files.ts';
import { lockForForcing } from '../ach/forcing.ts';
import { applyAside } from '../ach/incoming/applying.ts';
import { registerAchRoutes } from '../ach/routes.ts';
import { createHouse, type House } from '../ach/test/house.ts';
import { registerRailRoutes } from '../routes.ts';
import { rtpBooks } from '../rtp/books/books.ts';

const ADMIN = 'the-token-of-the-operator';
export const admin = { authorization: `Bearer ${ADMIN}` };

export const reconciledRails = [
  { id: 'ach', books: achBooks },
  { id: 'rtp', books: rtpBooks },
] as const;

/** Who calls is another feature's matter: here the token is the organisation. */
const whoeverTheTokenNames = {
  authenticate: (token: string): Caller => ({
    tenant: tenantOf(token, 'test'),
    keyId: 'key_any',
    scopes: new Set(scopes),
  }),
  holdKey: async () => true,
  holdTenant: async (_tx: unknown, tenant: Tenant) => tenant,
};
const unlimited = { enforce: () => {} };
const none = async () => undefined;

type AuditLine = Parameters<AuditService['record']>[0];

export type OperatedHouse = Awaited<ReturnType<typeof openOperatedHouse>>;

/** A house with a worker, and the routes over which owners and the operator look into its rails. */
export async function openOperatedHouse() {
  const house = await createHouse();
  await house.startWorking();
  const audited: AuditLine[] = [];
  const app = await serveRails(house, audited);
  return {
    house,
    /** What stands in the logs of organisations by now. */
    audited: audited as readonly AuditLine[],
    async get(url: string, headers: Record<string, string> = {}) {
      const response = await app.inject({ method: 'GET', url, headers });
      return { status: response.statusCode, body: response.json() };
    },
    async post(url: string, body: object, headers: Record<string, string> = {}) {
      const response = await app.inject({ method: 'POST', url, headers, payload: body });
      const isReplayed = response.headers['idempotent-replayed'] === 'true';
      return { status: response.statusCode, body: response.json(), isReplayed };
    },
    async close() {
      await app.close();
      await house.close();
    },
  };
}

/** What a reconciliation of this house at that time needs. */
export function reconciling(house: House, now: () => Date) {
  const { database, context } = house;
  return {
    ...{ database, now, rails: reconciledRails, newId: context.newId, log: context.log },
    secondLookAfterMs: 0,
    metrics: createMetrics({ service: 'payments', processMetrics: false }),
    onError: (error: unknown) => house.errors.push(error),
  };
}

async function serveRails(house: House, audited: AuditLine[]) {
  const { database, context } = house;
  const databases = { test: database, live: database };
  const app = await createApp({
    name: 'payments',
    version: '0.0.0',
    publicUrl: 'http://localhost',
    logLevel: 'silent',
    errors,
    defaultMetrics: false,
  });
  app.decorateRequest('caller', null as never);
  app.decorateRequest('person', null);
  const routes = createPaymentsRoutes(app, {
    gates: createGates({
      keys: whoeverTheTokenNames,
      people: { findCaller: none, holdSession: async () => false, holdRole: none },
      rates: { live: unlimited, test: unlimited, person: unlimited, address: unlimited },
      adminToken: ADMIN,
      publicUrl: 'http://localhost',
    }),
    replyOnce: createReplyOnce(
      createIdempotency({
        ...{ databases, now: () => new Date() },
        sealer: createSealer({ keys: [Buffer.alloc(32, 7)] }),
      }),
    ),
    audit: { record: async (line) => void audited.push(line) },
  });
  registerRailRoutes(routes, { getPayment: house.payments.get, messages: house.messages });
  registerReconciliationRoutes(routes, createReconciliation(reconciling(house, () => new Date())));
  const quarantine = createQuarantine(context);
  const resolving = createQuarantineResolving({
    ...{ quarantine, now: () => new Date() },
    lockPayments: context.lockPayments,
    findPayment: createPaymentReading({ databases }).find,
    rails: {
      lockFor: lockForForcing,
      applyAside: (tx, payment, content) => applyAside(context, tx, payment, content),
    },
  });
  registerQuarantineRoutes(routes, { quarantine, resolving });
  registerAchRoutes(routes, createAchFiles(context));
  return app;
}
