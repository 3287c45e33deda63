import type { ChangeHandler, Database } from '@libs/db';
import { createOutage } from '@libs/runtime';
import { expect, test } from 'vitest';
import { createSuspensions } from './suspensions.ts';

/** As Citus says it. */
const serverAway = Object.assign(new Error('connection to the remote node tests@away:5432 failed'), {
  code: '08006',
});

/** Its database answers a look when the test says so. */
async function openSuspensions({
  isSpread = false,
  first = 'read',
}: {
  isSpread?: boolean;
  first?: 'read' | 'away';
} = {}) {
  const told: unknown[] = [];
  const looks: PromiseWithResolvers<{ rows: { customer_id: string }[] }>[] = [];
  let hear: ChangeHandler = () => {};
  const opening = createSuspensions({
    database: {
      isSpread,
      query() {
        const look = Promise.withResolvers<{ rows: { customer_id: string }[] }>();
        looks.push(look);
        return look.promise;
      },
    } as unknown as Database,
    changes: {
      publish: async () => {},
      on(_topic, handler) {
        hear = handler;
      },
    },
    operator: undefined,
    now: () => new Date(0),
    againMs: 1,
    outage: createOutage({ began: (error) => told.push(error), ended: () => told.push('ended') }),
  });
  if (first === 'away') looks[0]?.reject(serverAway);
  else looks[0]?.resolve({ rows: [] });
  const suspensions = await opening;
  const nextLook = async (index: number) => {
    await expect.poll(() => looks.length).toBeGreaterThan(index);
    return looks[index] as (typeof looks)[number];
  };
  return { suspensions, told, nextLook, forget: () => hear(null), looks };
}

test('a list that cannot be read is told of once, however often it is tried, and once more when it is', async () => {
  const { suspensions, told, nextLook, forget } = await openSuspensions();
  for (let tries = 1; tries <= 3; tries += 1) {
    forget();
    (await nextLook(tries)).reject(new Error('away'));
    await new Promise(setImmediate);
  }
  expect(told).toEqual([new Error('away')]);
  forget();
  (await nextLook(4)).resolve({ rows: [{ customer_id: 'cus_1' }] });
  await expect.poll(() => told.slice(1)).toEqual(['ended']);
  expect(suspensions.isSuspended('cus_1')).toBe(true);
});

test('looks that get no answer do not add up, and what was to be forgotten meanwhile is read again', async () => {
  const { suspensions, nextLook, forget, looks } = await openSuspensions();
  for (let times = 0; times < 5; times += 1) forget();
  expect(looks).toHaveLength(2);
  (await nextLook(1)).resolve({ rows: [] });
  (await nextLook(2)).resolve({ rows: [{ customer_id: 'cus_1' }] });
  await expect.poll(() => suspensions.isSuspended('cus_1')).toBe(true);
  expect(looks).toHaveLength(3);
});

test('while the server of some customers is away a process starts, lets nobody in unseen, and reads on by itself', async () => {
  const { suspensions, told, nextLook } = await openSuspensions({ isSpread: true, first: 'away' });
  expect(() => suspensions.isSuspended('cus_1')).toThrow(expect.objectContaining({ code: 'not_ready' }));
  (await nextLook(1)).reject(serverAway);
  (await nextLook(2)).resolve({ rows: [{ customer_id: 'cus_1' }] });
  await expect.poll(() => told).toEqual([serverAway, 'ended']);
  expect([suspensions.isSuspended('cus_1'), suspensions.isSuspended('cus_2')]).toEqual([true, false]);
});

test('where one server has it all, a list that cannot be read at the start ends it', async () => {
  await expect(openSuspensions({ first: 'away' })).rejects.toBe(serverAway);
});
