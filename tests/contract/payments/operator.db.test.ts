// What the operator sees of banks and networks, over HTTP and through the whole service.
import { enqueueJobs } from '@libs/jobs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RECONCILE_JOB } from '../../../services/payments/src/reconciliation/service.ts';
import { ADMIN_TOKEN, type Harness, SANDBOX_KEY, startHarness } from './harness.ts';
import { signUp } from './person.ts';

const DAY_MS = 86_400_000;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '5', PAYMENTS_SANDBOX_ACH_MS: '100' } });
});
afterAll(() => harness.stop());

const get = (path: string, key: string | null = ADMIN_TOKEN) => harness.call('GET', path, { key });
const post = (path: string, body: unknown, key: string | null = ADMIN_TOKEN) =>
  harness.call('POST', path, { key, body });

test.each([
  ['GET', '/v1/admin/reconciliation'],
  ['GET', '/v1/admin/quarantine'],
  ['POST', '/v1/admin/quarantine/any/apply'],
  ['POST', '/v1/admin/quarantine/any/dismiss'],
  ['GET', '/v1/admin/ach_files'],
  ['POST', '/v1/admin/ach_files/any/reject'],
])('%s %s is for the operator alone', async (method, path) => {
  const call = (key: string | null) => harness.call(method, path, { key });
  expect([(await call(null)).status, (await call(SANDBOX_KEY)).status]).toEqual([401, 403]);
});

test('days and moments that there are not are refused, in queries and in cursors', async () => {
  const cursor = (position: readonly unknown[]) =>
    Buffer.from(JSON.stringify(position)).toString('base64url');
  const asPerson = await signUp(harness);
  const answers = [
    await get(`/v1/admin/quarantine?cursor=${cursor(['2016-12-31T23:59:60Z', 'qua_x'])}`),
    await get('/v1/admin/reconciliation?day=0000-01-01'),
    await get('/v1/admin/ach_files?date=0000-01-01'),
    await asPerson.call('GET', `/v1/request_logs?cursor=${cursor(['2026-99-99', 'log_x'])}`),
    await harness.call('GET', '/v1/fees?month=0000-01'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
});

test('[P-6.6] the daily look finds nothing on clean books, and shows what is stored', async () => {
  const pay = async (rail: string) => {
    const { body } = await harness.call('POST', '/v1/payments', {
      headers: { 'idempotency-key': `clean ${rail}` },
      body: {
        ...{ amount: 700, currency: 'USD', rail },
        source: { payment_method_id: 'pm_alice' },
        destination: { payment_method_id: 'pm_bob' },
      },
    });
    const status = async () => (await harness.call('GET', `/v1/payments/${body.id}`)).body.status;
    await expect.poll(status).toBe('completed');
  };
  await pay('rtp');
  await pay('ach');
  harness.time.advance(DAY_MS);
  const { database } = harness;
  await enqueueJobs(database, database.schema, [{ name: RECONCILE_JOB, payload: {} }]);
  const runs = async () => {
    const { rows } = await database.query<{ runs: number }>(
      'select count(*)::int as runs from reconciliation_runs',
    );
    return rows[0]?.runs;
  };
  await expect.poll(runs).toBe(4);
  const empty = { object: 'list', data: [], next_cursor: null };
  expect((await get('/v1/admin/reconciliation')).body).toEqual(empty);
  const series = (rail: string, mode: string) =>
    `payments_reconciliation_open_differences{rail="${rail}",mode="${mode}",service="payments"}`;
  expect((await get('/metrics')).text).toContain(`${series('ach', 'test')} 0`);

  await database.query(
    `insert into reconciliation_differences (id, rail, mode, kind, subject, day, reference, first_seen_at, last_seen_at)
     values ('rdf_1', 'rtp', 'live', 'missing_here', 'x - -', '2026-11-02', 'x', now(), now())`,
  );
  const { body } = await get('/v1/admin/reconciliation?status=open');
  expect(body.data).toEqual([
    {
      ...{ id: 'rdf_1', object: 'reconciliation_difference', status: 'open', rail: 'rtp', mode: 'live' },
      ...{ day: '2026-11-02', kind: 'missing_here', reference: 'x', tenant_id: null, payment_id: null },
      ...{ ours: null, theirs: null, resolved_at: null },
      first_seen_at: expect.stringMatching(/Z$/),
      last_seen_at: expect.stringMatching(/Z$/),
    },
  ]);
  expect((await get('/v1/admin/reconciliation?status=resolved')).body).toEqual(empty);
  expect((await get('/metrics')).text).toContain(`${series('rtp', 'live')} 1`);
  expect((await get('/v1/admin/reconciliation?status=some')).status).toBe(400);
  expect((await get('/v1/admin/reconciliation?cursor=nonsense')).status).toBe(400);
});

test('[P-5.15] [P-5.16] what is not there or makes no sense is refused by name', async () => {
  const applied = await post('/v1/admin/quarantine/any/apply', { payment_id: 'pay_1' });
  expect([applied.status, applied.body.code]).toEqual([404, 'not_found']);
  expect((await post('/v1/admin/quarantine/any/apply', { payment: 'pay_1' })).status).toBe(422);
  for (const reason of ['', ' \n'])
    for (const what of ['quarantine/any/dismiss', 'ach_files/any/reject'])
      expect((await post(`/v1/admin/${what}`, { reason, resend: true })).body.errors).toContainEqual(
        expect.objectContaining({ pointer: '/reason' }),
      );
  expect((await get('/v1/admin/quarantine?status=closed')).status).toBe(400);
  expect((await post('/v1/admin/ach_files/any/reject', { reason: 'x', resend: true })).status).toBe(404);
  expect((await post('/v1/admin/ach_files/any/reject', { reason: 'x' })).status).toBe(422);
  expect((await get('/v1/admin/ach_files?date=today')).status).toBe(400);
  const { body } = await get('/v1/admin/ach_files?status=sent');
  expect(body.data).toContainEqual(expect.objectContaining({ object: 'ach_file', status: 'sent' }));
});

test('[P-3.8] what the operator decides on an organisation, and does with its keys, stands in its own log', async () => {
  const owner = await signUp(harness);
  const operator = await signUp(harness);
  await harness.database.query('update users set operator = true where id = $1', [operator.userId]);
  const path = `/v1/admin/organisations/${owner.organisationId}`;
  expect((await post(`${path}/live_access`, { approved: true })).status).toBe(200);
  const refused = await operator.call('POST', `${path}/live_access`, { approved: false });
  expect(refused.status).toBe(200);
  const made = await post(`${path}/keys`, { mode: 'test' });
  const rolled = await post(`/v1/admin/keys/${made.body.id}/roll`, { overlap_seconds: 0 });
  await harness.call('DELETE', `/v1/admin/keys/${rolled.body.id}`, { key: ADMIN_TOKEN });
  const logOf = async (person: typeof owner) =>
    (await person.call('GET', '/v1/audit?limit=100')).body.data as Record<string, string | null>[];
  const byOperator = { user_id: 'operator', user_name: null, user_email: null, ip: null, outcome: 'success' };
  const line = (action: string, target: string) => expect.objectContaining({ ...byOperator, action, target });
  expect((await logOf(owner)).slice(0, 5)).toEqual([
    line('key.revoked', rolled.body.id),
    line('key.rolled', made.body.id),
    line('key.created', made.body.id),
    line('live_access.decided', owner.organisationId),
    line('live_access.decided', owner.organisationId),
  ]);
  // Who of the operator's people it was is the operator's affair, and not that of the organisation that the person is in.
  await operator.call('GET', '/v1/admin/quarantine/qua_unknown');
  // Pages ask for the list every few seconds: it would fill the log.
  expect((await operator.call('GET', '/v1/admin/quarantine')).status).toBe(200);
  const acts = new Set(['live_access.decided', 'quarantine.listed', 'quarantine.read']);
  expect((await logOf(operator)).filter(({ action }) => acts.has(action ?? ''))).toEqual([]);
  const { rows } = await harness.database.query(
    `select action, organisation_id, target from audit_entries where user_id = $1 and action = any($2) order by action`,
    [operator.userId, [...acts]],
  );
  expect(rows).toEqual([
    { action: 'live_access.decided', organisation_id: null, target: owner.organisationId },
    { action: 'quarantine.read', organisation_id: null, target: null },
  ]);
});
