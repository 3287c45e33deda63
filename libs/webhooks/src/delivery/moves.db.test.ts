// Endpoints whose address changes while requests to the one before are under way.
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { type Receiver, startReceiver } from '../../test/receiver.ts';
import { RULES, SCHEMA, type Shop, TENANT, until } from '../../test/service.ts';
import type { EndpointAddress } from './delivery.ts';
import type { DeliveryDispatcher, DeliveryDispatcherOptions } from './dispatcher.ts';
import type { DeliveryHooks } from './recorder.ts';

const DAY_MS = 86_400_000;

let shop: Shop;
let receiver: Receiver;
let dispatcher: DeliveryDispatcher | undefined;
let disabled: string[];

beforeEach(async () => {
  disabled = [];
  shop = await openShop();
  receiver = await startReceiver();
});
afterEach(async () => {
  await dispatcher?.stop();
  await receiver.close();
  await shop.close();
  expect(shop.errors.splice(0)).toEqual([]);
});

const hooks: DeliveryHooks = {
  async lockAddresses(tx, refs) {
    const { rows } = await tx.query<EndpointAddress>(
      `select tenant_id as "tenantId", id as "endpointId", url from ${SCHEMA}.endpoints
where id = any($1) and enabled for update`,
      [refs.map(({ endpointId }) => endpointId)],
    );
    return rows;
  },
  onDisabled: async (_tx, _ref, reason) => void disabled.push(reason),
};

/** One delivery is under way to `/old` when the endpoint moves to `/new`; gives the request that is owed an answer. */
async function moveWhileSending(options: Partial<DeliveryDispatcherOptions>): Promise<ServerResponse> {
  const owed = Promise.withResolvers<ServerResponse>();
  receiver.on('/old', (_request, response) => owed.resolve(response));
  dispatcher = shop.dispatcher({ hooks, ...options });
  await dispatcher.start();
  const ref = await shop.addEndpoint(`${receiver.url}/old`);
  await shop.emit(ref, 1);
  const response = await owed.promise;
  await shop.database.query(`update ${SCHEMA}.endpoints set url = $1`, [`${receiver.url}/new`]);
  return response;
}

const delivery = async () => (await shop.queue.list(shop.database, { tenantId: TENANT, limit: 1 }))[0];

test('a 410 of the address before is a failure like any other, and the next try goes to the new one', async () => {
  (await moveWhileSending({})).writeHead(410).end();
  await until('it is delivered', async () => (await delivery())?.status === 'delivered');
  expect((await delivery())?.attempts.map(({ status }) => status)).toEqual([410, 200]);
  expect(receiver.to('/new')).toHaveLength(1);
  expect(disabled).toEqual([]);
});

test('a 410 of the address before ends a delivery whose schedule is used up, and nothing else', async () => {
  (await moveWhileSending({ rules: { ...RULES, retryDelaysMs: [] } })).writeHead(410).end();
  await until('it is given up', async () => (await delivery())?.status === 'dead');
  expect(disabled).toEqual([]);
});

test('a failure of the address before is none of the new one', async () => {
  const rules = { ...RULES, retryDelaysMs: [DAY_MS] };
  (await moveWhileSending({ rules, disableAfterMs: 5 * DAY_MS })).writeHead(500).end();
  await until('it is written down', async () => (await delivery())?.attempts.length === 1);
  expect((await shop.database.query(`select 1 from ${SCHEMA}.failing_endpoints`)).rowCount).toBe(0);
});
