// How often one customer may call, and that the others do not feel it.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { type Answer, apiOf, newCustomer } from './customer.ts';

let db: TestDatabase;
let service: Instance;

beforeAll(async () => {
  db = await createToolhubDatabase();
  service = await startInstance(db.url, { env: { TOOLHUB_RATE_API: '10' }, jobs: true });
});

afterAll(async () => {
  await service.stop();
  await db.drop();
});

const passed = (answers: readonly Answer[]) => answers.filter(({ status }) => status !== 429).length;

test('[TH-13.10] 10 a second with bursts of 40 for each customer, then 429 with Retry-After', async () => {
  const [ada, bob] = [await newCustomer(service.url), await newCustomer(service.url)];
  const api = apiOf(service.url, ada.token);
  const startedMs = performance.now();
  const answers = await Promise.all(Array.from({ length: 150 }, () => api('GET', '/api/me')));
  const seconds = (performance.now() - startedMs) / 1_000;
  expect(passed(answers)).toBeGreaterThanOrEqual(38);
  expect(passed(answers)).toBeLessThanOrEqual(42 + 10 * seconds);
  expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({ code: 'rate_limited' });
  const refused = await fetch(`${service.url}/api/me`, { headers: { authorization: `Bearer ${ada.token}` } });
  if (refused.status === 429) expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await apiOf(service.url, bob.token)('GET', '/api/me')).status).toBe(200);
});

test('[TH-13.10] dear calls: one a second with bursts of 10', async () => {
  const ada = await newCustomer(service.url);
  const api = apiOf(service.url, ada.token);
  const startedMs = performance.now();
  const tests = await Promise.all(Array.from({ length: 30 }, () => api('POST', '/api/webhooks/test')));
  const seconds = (performance.now() - startedMs) / 1_000;
  expect(passed(tests)).toBeGreaterThanOrEqual(9);
  expect(passed(tests)).toBeLessThanOrEqual(12 + seconds);
  expect((await api('GET', '/api/me')).status).toBe(200);
});

test('[TH-13.10] who calls the operator’s endpoints without being the operator is limited as elsewhere', async () => {
  const ada = await newCustomer(service.url);
  const api = apiOf(service.url, ada.token);
  const startedMs = performance.now();
  const answers = await Promise.all(Array.from({ length: 150 }, () => api('GET', '/api/admin/customers')));
  const seconds = (performance.now() - startedMs) / 1_000;
  expect(passed(answers)).toBeLessThanOrEqual(42 + 10 * seconds);
  expect(answers.find(({ status }) => status !== 429)?.status).toBe(403);
  const asOperator = apiOf(service.url, ADMIN_TOKEN);
  const own = await Promise.all(Array.from({ length: 60 }, () => asOperator('GET', '/api/admin/jobs')));
  expect(passed(own)).toBe(60);
});
