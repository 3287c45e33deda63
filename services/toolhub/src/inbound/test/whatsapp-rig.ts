import { createHmac, randomBytes } from 'node:crypto';
import { createTestDatabase } from '@libs/db/testing';
import { createApp } from '@libs/http';
import { startWorker } from '@libs/jobs';
import { createIdFactory } from '@libs/seal';
import { expect } from 'vitest';
import { openRoutes } from '../../../test/open-routes.ts';
import { createEmitEvent } from '../../events/service.ts';
import { migrationSource } from '../../schema.ts';
import { claimPhoneNumber } from '../phone-numbers.ts';
import { registerInboundRoutes } from '../routes.ts';
import { createInboundService } from '../service.ts';

const APP_SECRET = 'the app secret';
export const VERIFY_TOKEN = 'the verify token';

export const appOptions = {
  name: 'test',
  version: '0',
  publicUrl: 'http://localhost',
  logLevel: 'silent',
  docsPath: false,
  defaultMetrics: false,
} as const;

interface EventRow {
  customer_id: string;
  type: string;
  data: Record<string, unknown>;
}

export type WhatsappRig = Awaited<ReturnType<typeof startWhatsapp>>;

/** The route of WhatsApp, its inbox and its worker, on a database of its own. */
export async function startWhatsapp() {
  const testDatabase = await createTestDatabase(migrationSource);
  const { database } = testDatabase;
  const clock = { now: new Date('2026-10-05T10:00:00Z') };
  const now = () => clock.now;
  const newId = createIdFactory({ now: () => new Date(), randomBytes });
  const problems: unknown[] = [];
  const inbound = createInboundService({
    ...{ database, newId, now, emitEvent: createEmitEvent({ newId, now }) },
    onProblem: (error) => problems.push(error),
  });
  const telegram = {
    ...{ database, connectors: { find: () => undefined }, emitEvent: () => Promise.resolve('') },
  };
  const app = await createApp(appOptions);
  await registerInboundRoutes(app, {
    ...{ inbound, now, telegram, routesOn: openRoutes() },
    arrivals: { apps: [], accept: () => Promise.resolve() },
    whatsapp: { appSecret: APP_SECRET, verifyToken: VERIFY_TOKEN },
  });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/webhooks/whatsapp`;
  const worker = await startWorker({
    ...{ database, handlers: inbound.jobs.handlers, now, pollMs: 200 },
    onError: (error) => problems.push(error),
  });

  async function rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await database.query<Row>(text, values)).rows;
  }

  return {
    ...{ database, clock, now, telegram, url, problems, rows },

    post(body: Buffer | string, headers: Record<string, string> = {}) {
      return fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(body), ...headers },
        body: Buffer.from(body),
      });
    },

    events: () => rows<EventRow>('select customer_id, type, data from events order by id'),

    /** Waits until no job is left that was not planned ahead. */
    settled: () =>
      expect.poll(() => rows(`select 1 from jobs where key is null`), { interval: 20 }).toEqual([]),

    async claim(customerId: string, phoneNumberId: string): Promise<void> {
      await database.transaction((tx) => claimPhoneNumber(tx, { customerId, phoneNumberId, at: now() }));
    },

    async stop() {
      await worker.drain();
      await app.drain();
      await testDatabase.drop();
    },
  };
}

export function sign(body: Buffer | string, secret = APP_SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

export function delivery(phoneNumberId: string, messages: unknown[], statuses: unknown[] = []): string {
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550001', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Ada' }, wa_id: '4915' }],
    messages,
    statuses,
  };
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  });
}

export const message = (id: string, text = 'Hi', timestamp = '1791200000') => ({
  ...{ from: '4915', id, timestamp, type: 'text', text: { body: text } },
});
