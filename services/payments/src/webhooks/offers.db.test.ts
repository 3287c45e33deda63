/** The short way from a commit to the dispatcher: what commits is offered, once, and nothing else ever is. */
import type { Database, Queryable } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createDeliveryQueue, type OfferedDelivery } from '@libs/webhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PaymentsEvent } from '../events/event.ts';
import { webhookBody } from '../events/event-json.ts';
import { paymentsMigrations } from '../migrations.ts';
import { createDeliveryOffers, type DeliveryOffers } from './offers.ts';
import { DELIVERY_SCHEMA } from './rules.ts';
import { createSubscriptionService, type SubscriptionService } from './subscriptions.ts';

const tenantId = 'org_offers.test';
const interested = new Map([[tenantId, [{ endpointId: 'we_1', events: ['*'] }]]]);

let testDatabase: TestDatabase;
let database: Database;
let offers: DeliveryOffers;
let subscriptions: SubscriptionService;
let offered: OfferedDelivery[];
let announced: string[] = [];
let serial = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase(paymentsMigrations());
  database = testDatabase.database;
  await database.listen(`${DELIVERY_SCHEMA}_due`, (message) => announced.push(message));
});

afterAll(() => testDatabase.drop());

beforeEach(async () => {
  offered = [];
  announced = [];
  offers = createDeliveryOffers();
  await database.query(`delete from ${DELIVERY_SCHEMA}.queue`);
  const queue = createDeliveryQueue({
    schema: DELIVERY_SCHEMA,
    now: () => new Date(),
    newId: (prefix) => {
      serial += 1;
      return `${prefix}_${serial}`;
    },
    statusWhenAbandoned: 'abandoned',
  });
  subscriptions = createSubscriptionService(queue, offers);
});

function newEvent(): PaymentsEvent {
  serial += 1;
  const at = new Date('2026-03-01T12:00:00Z');
  return {
    tenantId,
    id: `evt_${serial}`,
    type: 'payment.completed',
    subjectId: 'pay_1',
    data: '{"id":"pay_1"}',
    occurredAt: at,
    createdAt: at,
  };
}

const enqueue = (tx: Queryable, event: PaymentsEvent) => subscriptions.enqueue(tx, [event], interested);
const listen = () => offers.to({ offer: (deliveries) => offered.push(...deliveries) });

async function queued(): Promise<{ id: string; event_id: string }[]> {
  return (
    await database.query<{ id: string; event_id: string }>(
      `select id, event_id from ${DELIVERY_SCHEMA}.queue`,
    )
  ).rows;
}

describe('offering deliveries', () => {
  test('what commits is offered after the commit, as it was stored, and not announced', async () => {
    listen();
    const event = newEvent();
    await database.transaction(async (tx) => {
      await enqueue(tx, event);
      expect(offered).toEqual([]);
    });
    const [row] = await queued();
    expect(offered).toEqual([
      {
        tenantId,
        endpointId: 'we_1',
        eventId: event.id,
        eventType: event.type,
        id: row?.id,
        body: webhookBody(event),
        traceparent: null,
      },
    ]);
    // A notification of a later commit comes after those of earlier ones, so this one proves that there was none.
    await database.query(`select pg_notify('${DELIVERY_SCHEMA}_due', 'later')`);
    await expect.poll(() => announced).toContain('later');
    expect(announced).toEqual(['later']);
  });

  test('what is rolled back is neither stored nor offered', async () => {
    listen();
    const failing = database.transaction(async (tx) => {
      await enqueue(tx, newEvent());
      throw new Error('changed its mind');
    });
    await expect(failing).rejects.toThrow('changed its mind');
    expect(offered).toEqual([]);
    expect(await queued()).toEqual([]);
  });

  test.each([
    ['nobody sends here', () => {}],
    [
      'the dispatcher has stopped',
      () => {
        listen();
        offers.to(null);
      },
    ],
  ])('where %s, rows are announced instead', async (_when, prepare) => {
    prepare();
    await database.transaction((tx) => enqueue(tx, newEvent()));
    expect(offered).toEqual([]);
    expect(await queued()).toHaveLength(1);
    await expect.poll(() => announced).toEqual([JSON.stringify([[tenantId, 'we_1']])]);
  });

  test('without a transaction nobody would know of the commit, so the row is announced', async () => {
    listen();
    await enqueue(database, newEvent());
    expect(offered).toEqual([]);
    await expect.poll(() => announced).toEqual([JSON.stringify([[tenantId, 'we_1']])]);
  });
});
