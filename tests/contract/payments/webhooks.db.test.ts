// What is sent to endpoints: signatures, retries and deliveries, with a real receiver.
import { verifyMessage } from '@libs/webhooks';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deliveryRules } from '../../../services/payments/src/webhooks/rules.ts';
import { type Harness, startHarness } from './harness.ts';
import { mailsTo, nextMail, signUp, verifyAddress } from './person.ts';
import { answer, type Received, type Receiver, startReceiver } from './receiver.ts';
import { arrivals as arrivalsAt, ENDPOINTS, setUpWebhooks } from './webhook-rig.ts';

let harness: Harness;
let receiver: Receiver;

const RETRY_MS = 300;

beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startHarness({
    service: { webhooks: { rules: { retryDelaysMs: [RETRY_MS, RETRY_MS], timeoutMs: 1_500, drainMs: 200 } } },
  });
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});
afterEach(() => {
  receiver.respond = answer(204);
  receiver.received.length = 0;
});

const setUp = () => setUpWebhooks(harness, receiver);
const arrivals = (path: string, count: number) => arrivalsAt(receiver, path, count);

function verify({ headers, text }: Received, ...secrets: string[]) {
  return verifyMessage({ headers, body: text, secrets, now: harness.time.now() });
}

describe('what is sent', () => {
  test('[P-8.2] [P-8.3] is signed, and is the event as the API shows it', async () => {
    const { call, endpoint, cause } = await setUp();
    const { secret } = await endpoint('/signed');
    const method = await cause();
    await arrivals('/signed', 1);
    const [hook] = receiver.at('/signed') as [Received];
    expect(hook.headers['content-type']).toBe('application/json');
    expect(verify(hook, secret)).toEqual({ ok: true });
    expect(verify({ ...hook, text: `${hook.text} ` }, secret)).toMatchObject({ ok: false });
    // The published library of the standard agrees.
    new Webhook(secret).verify(hook.text, hook.headers as Record<string, string>);
    const { data: events } = (await call('GET', `/v1/events?object_id=${method.id}`)).body;
    expect(hook.headers['webhook-id']).toBe(events[0].id);
    expect(Object.keys(hook.body)).toEqual(['id', 'type', 'timestamp', 'mode', 'data']);
    expect(hook.body).toEqual({
      id: events[0].id,
      type: 'payment_method.created',
      timestamp: events[0].timestamp,
      mode: 'test',
      data: method,
    });
    expect(events[0].data).toEqual(method);
  });

  test('[P-8.4] [P-10.1] after a rotation both secrets sign for 24 hours, then the new one alone', async () => {
    const { call, endpoint } = await setUp();
    const made = await endpoint('/rotated');
    const rotated = await call('POST', `${ENDPOINTS}/${made.id}/rotate_secret`);
    expect(rotated.status).toBe(200);
    expect(rotated.body.id).toBe(made.id);
    expect(rotated.body.secret).not.toBe(made.secret);
    const send = async (count: number) => {
      await call('POST', `${ENDPOINTS}/${made.id}/test`);
      await arrivals('/rotated', count);
      return receiver.at('/rotated')[count - 1] as Received;
    };
    const during = await send(1);
    expect((during.headers['webhook-signature'] as string).split(' ')).toHaveLength(2);
    for (const secret of [made.secret, rotated.body.secret])
      expect(verify(during, secret)).toEqual({ ok: true });
    harness.time.advance(24 * 3_600_000 + 1_000);
    const after = await send(2);
    expect(verify(after, rotated.body.secret)).toEqual({ ok: true });
    expect(verify(after, made.secret)).toMatchObject({ ok: false });
  });

  test('[P-8.5] each endpoint hears of the types it asked for', async () => {
    const { call, endpoint, cause } = await setUp();
    await endpoint('/all');
    await endpoint('/deleted', { events: ['payment_method.deleted'] });
    await endpoint('/payments', { events: ['payment.completed'] });
    const off = await endpoint('/off');
    await call('PATCH', `${ENDPOINTS}/${off.id}`, { status: 'disabled' });
    const { id } = await cause();
    await call('DELETE', `/v1/payment_methods/${id}`);
    await arrivals('/all', 2);
    await arrivals('/deleted', 1);
    expect(receiver.at('/payments')).toEqual([]);
    expect(receiver.at('/off')).toEqual([]);
  });

  test('[P-8.6] [P-10.1] a test goes to its endpoint alone, whatever that has subscribed to', async () => {
    const { call, endpoint } = await setUp();
    await endpoint('/bystander');
    const { id } = await endpoint('/tested', { events: ['payment.completed'] });
    const sent = await call('POST', `${ENDPOINTS}/${id}/test`);
    expect(sent.status).toBe(202);
    expect(sent.body).toMatchObject({
      endpoint_id: id,
      event_type: 'webhook_endpoint.test',
      status: 'pending',
    });
    await arrivals('/tested', 1);
    expect(receiver.at('/tested')[0]?.body).toMatchObject({ type: 'webhook_endpoint.test', data: { id } });
    expect(receiver.at('/bystander')).toEqual([]);
    await call('PATCH', `${ENDPOINTS}/${id}`, { status: 'disabled' });
    expect((await call('POST', `${ENDPOINTS}/${id}/test`)).status).toBe(409);
  });

  test('[P-8.11] a name that leads elsewhere by the time of connecting gets nothing', async () => {
    const { call, deliveries } = await setUp();
    const made = await call('POST', ENDPOINTS, { url: 'https://rebound.example.invalid/' });
    expect(made.status).toBe(201);
    // As if the name had led to a public address when it was registered, and now led inside.
    await harness.database.query('update webhook_endpoints set url = $2 where id = $1', [
      made.body.id,
      'http://10.0.0.1/',
    ]);
    await call('POST', `${ENDPOINTS}/${made.body.id}/test`);
    await expect.poll(async () => (await deliveries(made.body.id))[0].attempts[0]?.error).toBeTruthy();
    const [{ attempts }] = await deliveries(made.body.id);
    expect(attempts[0].status).toBeNull();
  });
});

describe('failures', () => {
  test('[P-8.7] the schedule is the promised one', () => {
    const minute = 60_000;
    expect(deliveryRules.retryDelaysMs).toEqual(
      [5 / 60, 5, 30, 120, 300, 600, 840, 1_200, 1_440].map((minutes) => minutes * minute),
    );
    expect(deliveryRules).toMatchObject({ timeoutMs: 15_000, honourRetryAfter: true, disableOnGone: true });
    expect(deliveryRules.jitter).toBeGreaterThan(0);
    expect(deliveryRules.disableAfterMs).toBe(5 * 24 * 60 * minute);
  });

  test('[P-8.7] [P-8.8] [P-10.9] are tried again with the same id, and given up when the schedule is used up', async () => {
    const { call, endpoint, cause, deliveries } = await setUp();
    const { id, secret } = await endpoint('/failing');
    receiver.respond = answer(500);
    await cause();
    await arrivals('/failing', 3);
    const tries = receiver.at('/failing');
    expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(tries.map(({ text }) => text)).size).toBe(1);
    for (const one of tries) expect(verify(one, secret)).toEqual({ ok: true });
    await expect.poll(async () => (await deliveries(id))[0].status).toBe('failed');
    const [delivery] = await deliveries(id);
    const ofEvent = (eventId: string) => call('GET', `${ENDPOINTS}/${id}/deliveries?event_id=${eventId}`);
    expect((await ofEvent(delivery.event_id)).body.data).toEqual([delivery]);
    expect((await ofEvent('evt_none')).body).toMatchObject({ data: [], next_cursor: null });
    expect(delivery).toEqual({
      id: expect.stringMatching(/^dlv_/),
      object: 'webhook_delivery',
      event_id: tries[0]?.headers['webhook-id'],
      event_type: 'payment_method.created',
      endpoint_id: id,
      status: 'failed',
      attempts: Array.from({ length: 3 }, () => ({
        at: expect.stringMatching(/Z$/),
        status: 500,
        error: 'answered 500',
        duration_ms: expect.any(Number),
        response: 'ok',
      })),
      next_attempt_at: null,
      created_at: expect.any(String),
    });
    receiver.respond = answer(200);
    const retried = await call('POST', `/v1/webhook_deliveries/${delivery.id}/retry`);
    expect(retried.status).toBe(202);
    expect(retried.body).toMatchObject({ id: delivery.id, status: 'pending' });
    await arrivals('/failing', 4);
    await expect.poll(async () => (await deliveries(id))[0].status).toBe('delivered');
  });

  test('[P-8.7] redirects and time-outs are failures', async () => {
    const { endpoint, cause, deliveries } = await setUp();
    const { id } = await endpoint('/moved');
    receiver.respond = answer(302, { location: `${receiver.url}/elsewhere` });
    await cause();
    await arrivals('/moved', 2);
    expect(receiver.at('/elsewhere')).toEqual([]);
    receiver.respond = () => {};
    await arrivals('/moved', 3);
    await expect.poll(async () => (await deliveries(id))[0].attempts.length).toBeGreaterThanOrEqual(3);
    const [{ attempts }] = await deliveries(id);
    expect(attempts[0]).toMatchObject({ status: 302 });
    expect(attempts[2]).toMatchObject({ status: null, error: expect.stringMatching(/within 1500 ms/) });
  });

  test('[P-8.7] Retry-After is honoured', async () => {
    const { endpoint, cause } = await setUp();
    await endpoint('/busy');
    let first = 0;
    receiver.respond = (response, one) => {
      if (receiver.at('/busy').length === 1) first = Date.now();
      answer(receiver.at('/busy').length === 1 ? 503 : 200, { 'retry-after': '2' })(response, one);
    };
    await cause();
    await arrivals('/busy', 2);
    expect(Date.now() - first).toBeGreaterThanOrEqual(1_900);
  });

  test('people who have proved their address are told by mail that an endpoint is switched off', async () => {
    const owner = await signUp(harness);
    const stranger = await signUp(harness);
    await verifyAddress(harness, owner);
    for (const { call } of [owner, stranger])
      await call('POST', ENDPOINTS, { url: `${receiver.url}/over`, events: ['webhook_endpoint.test'] });
    receiver.respond = answer(410);
    for (const { call } of [stranger, owner]) {
      const { body } = await call('GET', ENDPOINTS);
      await call('POST', `${ENDPOINTS}/${body.data[0].id}/test`, {});
      const statusOf = async () => (await call('GET', `${ENDPOINTS}/${body.data[0].id}`)).body.status;
      await expect.poll(statusOf).toBe('disabled');
    }
    const { subject, text } = await nextMail(harness, owner.email, /switched off/);
    expect(subject).toBe('A webhook endpoint is switched off (test mode)');
    expect(text).toMatch(/since it answered 410(.|\n)*\/dashboard\/webhooks\/we_/);
    expect(text).not.toContain('/over');
    const toStranger = (await mailsTo(harness, stranger.email)).filter((mail) =>
      /switched off/.test(mail.subject),
    );
    expect(toStranger).toEqual([]);
  });

  test('[P-8.9] 410 disables the endpoint, and the others hear of it', async () => {
    const { call, endpoint, cause, deliveries } = await setUp();
    const gone = await endpoint('/gone');
    await endpoint('/witness', { events: ['webhook_endpoint.disabled'] });
    receiver.respond = (response, one) => answer(one.path === '/gone' ? 410 : 200)(response, one);
    await cause();
    await arrivals('/witness', 1);
    expect(receiver.at('/witness')[0]?.body).toMatchObject({
      type: 'webhook_endpoint.disabled',
      data: { id: gone.id, status: 'disabled', disabled_reason: 'gone' },
    });
    expect((await call('GET', `${ENDPOINTS}/${gone.id}`)).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'gone',
    });
    expect((await deliveries(gone.id))[0].status).toBe('abandoned');
    await cause();
    const retry = await call('POST', `/v1/webhook_deliveries/${(await deliveries(gone.id))[0].id}/retry`);
    expect([retry.status, retry.body.code]).toEqual([409, 'state_conflict']);
    expect(receiver.at('/gone')).toHaveLength(1);
    receiver.respond = answer(200);
    await call('PATCH', `${ENDPOINTS}/${gone.id}`, { status: 'enabled' });
    await cause();
    await arrivals('/gone', 2);
  });

  test('[P-8.9] five days of failures only disable it', async () => {
    const { call, endpoint, cause, deliveries } = await setUp();
    const { id } = await endpoint('/worn');
    receiver.respond = answer(500);
    await cause();
    await expect.poll(async () => (await deliveries(id))[0].attempts.length).toBeGreaterThan(0);
    harness.time.advance(5 * 86_400_000);
    await cause();
    await expect
      .poll(async () => (await call('GET', `${ENDPOINTS}/${id}`)).body.disabled_reason)
      .toBe('failing');
    const { data } = (await call('GET', '/v1/events?type=webhook_endpoint.disabled')).body;
    expect(data).toMatchObject([{ data: { id, disabled_reason: 'failing' } }]);
  });

  test('[P-8.10] a slow endpoint delays no other', async () => {
    const { endpoint, cause } = await setUp();
    await endpoint('/slow');
    await endpoint('/quick');
    receiver.respond = (response, one) => {
      if (one.path === '/quick') answer(200)(response, one);
    };
    await Promise.all(Array.from({ length: 5 }, cause));
    const began = Date.now();
    await arrivals('/quick', 5);
    // Each try of the slow one ends only with the time-out.
    expect(Date.now() - began).toBeLessThan(1_400);
  });
});

describe('deliveries', () => {
  test('[P-8.8] [P-2.4] are listed newest first, page by page', async () => {
    const { call, endpoint, cause } = await setUp();
    const { id } = await endpoint('/listed');
    for (let n = 0; n < 3; n += 1) await cause();
    await arrivals('/listed', 3);
    const path = `${ENDPOINTS}/${id}/deliveries`;
    const first = (await call('GET', `${path}?limit=2`)).body;
    const second = (await call('GET', `${path}?limit=2&cursor=${first.next_cursor}`)).body;
    const ids = [...first.data, ...second.data].map((delivery: { id: string }) => delivery.id);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(new Set(ids).size).toBe(3);
    expect(second.next_cursor).toBeNull();
    expect((await call('GET', `${ENDPOINTS}/we_nothing/deliveries`)).status).toBe(404);
  });

  test('[P-8.8] those of others and unknown ones cannot be tried again', async () => {
    const { endpoint, call, cause, deliveries, live } = await setUp();
    const { id } = await endpoint('/mine');
    await cause();
    await arrivals('/mine', 1);
    const [delivery] = await deliveries(id);
    const stranger = await harness.organisation();
    for (const key of [live, stranger.test]) {
      const path = `/v1/webhook_deliveries/${delivery.id}/retry`;
      expect((await harness.call('POST', path, { key })).status).toBe(404);
    }
    expect((await call('POST', '/v1/webhook_deliveries/dlv_nothing/retry')).status).toBe(404);
    await call('DELETE', `${ENDPOINTS}/${id}`);
    expect((await call('POST', `/v1/webhook_deliveries/${delivery.id}/retry`)).status).toBe(409);
  });
});
