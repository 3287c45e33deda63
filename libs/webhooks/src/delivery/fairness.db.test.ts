import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { type Receiver, startReceiver } from '../../test/receiver.ts';
import { type Shop, until } from '../../test/service.ts';
import type { DeliveryDispatcher } from './dispatcher.ts';

// A slow endpoint delays no other.

let shop: Shop;
let receiver: Receiver;
let dispatcher: DeliveryDispatcher;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await dispatcher.stop();
  await receiver.close();
  expect(shop.errors.splice(0)).toEqual([]);
});

const median = (values: number[]) =>
  values.sort((left, right) => left - right)[values.length >> 1] ?? Number.NaN;

/** How long single deliveries to a healthy endpoint take, one after the other. */
async function measure(path: string, count: number): Promise<number[]> {
  const ref = await shop.addEndpoint(receiver.url + path);
  const tookMs: number[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    await shop.emit(ref, 1);
    const committedAtMs = performance.now();
    await until(`delivery ${nth} arrived`, () => receiver.to(path).length === nth);
    tookMs.push((receiver.to(path).at(-1)?.atMs ?? 0) - committedAtMs);
  }
  return tookMs;
}

describe('an endpoint that hangs with thousands of rows due', () => {
  it('does not delay the others', async () => {
    receiver.on('/hangs', () => undefined);
    dispatcher = shop.dispatcher({ timeoutMs: 30_000, drainMs: 0 });
    await dispatcher.start();
    const alone = median(await measure('/alone', 15));
    const hanging = await shop.addEndpoint(`${receiver.url}/hangs`);
    await shop.emit(hanging, 5_000);
    await until('it hangs', () => receiver.to('/hangs').length > 0);
    const beside = median(await measure('/beside', 15));
    expect(receiver.to('/hangs').length).toBeLessThanOrEqual(8);
    // Behind it they would wait for its time-out, or for the next poll.
    expect(beside).toBeLessThan(Math.max(alone * 5, 2_000));
  });

  it('leaves room even when such endpoints hold every place', async () => {
    dispatcher = shop.dispatcher({ timeoutMs: 30_000, slowMs: 200, totalConcurrency: 16, drainMs: 0 });
    await dispatcher.start();
    for (const name of ['a', 'b', 'c']) {
      receiver.on(`/${name}`, () => undefined);
      await shop.emit(await shop.addEndpoint(`${receiver.url}/${name}`), 100);
    }
    await until('every place is taken', () => dispatcher.stats().inFlight >= 16);
    const tookMs = await measure('/healthy', 3);
    expect(Math.max(...tookMs)).toBeLessThan(10_000);
  });

  it('ends at its own time, after the time-out, and frees its places', async () => {
    receiver.on('/mute', () => undefined);
    dispatcher = shop.dispatcher({ timeoutMs: 400 });
    await dispatcher.start();
    const ref = await shop.addEndpoint(`${receiver.url}/mute`);
    const [eventId] = await shop.emit(ref, 1);
    const attempts = async () => {
      const list = await shop.queue.list(shop.database, { tenantId: ref.tenantId, limit: 1 });
      expect(list[0]?.eventId).toBe(eventId);
      return list[0]?.attempts ?? [];
    };
    await until('the first try timed out', async () => (await attempts()).length === 1);
    const [attempt] = await attempts();
    expect(attempt).toMatchObject({ status: null, error: 'no complete answer within 400 ms' });
    expect(attempt?.duration_ms).toBeGreaterThanOrEqual(400);
    expect(attempt?.duration_ms).toBeLessThan(10_000);
  });
});
