// Who calls, where a proxy stands in front: the address that it names, and never one that a stranger names.
import { afterEach, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

let harness: Harness;
afterEach(() => harness.stop());

const logIn = (from: string) =>
  harness.call('POST', '/v1/session/login', {
    key: null,
    headers: { 'x-forwarded-for': from },
    body: { email: 'nobody@example.com', password: 'not the password' },
  });

async function statuses(addresses: readonly string[]): Promise<number[]> {
  const answers: number[] = [];
  for (const address of addresses) answers.push((await logIn(address)).status);
  return answers;
}

test('behind a proxy that is named, each address has its own allowance', async () => {
  harness = await startHarness({ env: { PAYMENTS_RATE_ADDRESS: '1', PAYMENTS_TRUST_PROXY: 'loopback' } });
  expect(await statuses(['198.51.100.1', '198.51.100.2', '198.51.100.1'])).toEqual([401, 401, 429]);
});

test('without one, what a caller says of itself counts for nothing', async () => {
  harness = await startHarness({ env: { PAYMENTS_RATE_ADDRESS: '1' } });
  expect(await statuses(['198.51.100.1', '198.51.100.2'])).toEqual([401, 429]);
});
