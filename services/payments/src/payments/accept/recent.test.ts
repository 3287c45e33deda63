import { expect, test } from 'vitest';
import { tenantOf } from '../../tenant.ts';
import { RecentResponses } from './recent.ts';

const place = { tenant: tenantOf('org_1', 'test'), path: '/v1/payments', key: 'k' };
const response = { canonicalBody: '[]', status: 202, body: '{}' };
const HOUR_MS = 3_600_000;

test('[P-10.4] a response is remembered for an hour from the look that found it, far shorter than it is kept', () => {
  let nowMs = 0;
  const recent = new RecentResponses(() => new Date(nowMs));
  recent.set(place, response, nowMs);
  nowMs = HOUR_MS;
  expect(recent.get(place)).toMatchObject(response);
  nowMs += 1;
  expect(recent.get(place)).toBeUndefined();
});

test('[P-4.7] and for its organisation, mode, path and key alone', () => {
  const recent = new RecentResponses(() => new Date(0));
  recent.set(place, response, 0);
  for (const other of [
    { ...place, tenant: tenantOf('org_2', 'test') },
    { ...place, tenant: tenantOf('org_1', 'live') },
    { ...place, path: '/v1/payments/pay_1/refunds' },
    { ...place, key: 'K' },
  ])
    expect(recent.get(other)).toBeUndefined();
});
