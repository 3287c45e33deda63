import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startBeats } from './beats.ts';

test('beats go on one at a time, also behind one that hung, until they are stopped', async () => {
  const hung = Promise.withResolvers<void>();
  let begun = 0;
  const beats = startBeats(1, () => {
    begun += 1;
    return begun === 2 ? hung.promise : Promise.resolve();
  });
  await expect.poll(() => begun).toBe(2);
  await sleep(20);
  expect(begun).toBe(2);
  let isSettled = false;
  const settled = beats.settled().then(() => {
    isSettled = true;
  });
  await sleep(1);
  expect(isSettled).toBe(false);
  hung.resolve();
  await settled;
  await expect.poll(() => begun).toBeGreaterThan(3);
  beats.stop();
  const last = begun;
  await sleep(20);
  expect(begun).toBe(last);
});
