// Requests that have come in already when a password, a session or a key ends, whose work would outlive that end, or when the
// sandbox is reset, whose work would be lost.
import type { Transaction } from '@libs/db';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseTestEpoch } from '../../../services/payments/src/keys/store.ts';
import { tenantOf } from '../../../services/payments/src/tenant.ts';
import { lockEndpoints, moveEndpoint } from '../../../services/payments/src/webhooks/store.ts';
import { type Answer, type Harness, startHarness } from './harness.ts';
import { nextMail, openBrowser, PASSWORD, signUp } from './person.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

const hook = (path: string) => ({ url: `http://127.0.0.1:9/${path}` });

/**
 * The change is made but not committed when the call comes, and committed once the call waits for it, or is answered; what
 * is left of the change comes before that.
 */
async function during(
  change: (tx: Transaction) => Promise<unknown>,
  call: () => Promise<Answer>,
  rest: (tx: Transaction) => Promise<unknown> = async () => {},
) {
  let answer: Promise<Answer> | undefined;
  let isAnswered = false;
  await harness.database.transaction(async (tx) => {
    await change(tx);
    answer = call().finally(() => {
      isAnswered = true;
    });
    const waits = async () => {
      // For this transaction: whoever works in the background may wait for another one.
      const { rows } = await tx.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and pg_backend_pid() = any(pg_blocking_pids(pid))`,
      );
      return isAnswered || rows.length > 0;
    };
    await expect.poll(waits).toBe(true);
    await rest(tx);
  });
  return (await answer) as Answer;
}

test('[P-3.19] a login with the old password begins no session once the password is another one', async () => {
  const [person, other] = [await signUp(harness), await signUp(harness, { password: 'another password' })];
  const late = openBrowser(harness);
  const change = `update users set password_hash = (select password_hash from users where id = $2) where id = $1`;
  const answer = await during(
    (tx) => tx.query(change, [person.userId, other.userId]),
    () => late.call('POST', '/v1/session/login', { email: person.email, password: PASSWORD }),
  );
  expect([answer.status, answer.body.code]).toEqual([401, 'invalid_credentials']);
  expect((await late.call('GET', '/v1/session')).status).toBe(401);
});

test('[P-3.27] of two invitations of one address at once the later one counts', async () => {
  const person = await signUp(harness);
  const { token } = await nextMail(harness, person.email, /Verify/);
  await person.call('POST', '/v1/session/verify', { token });
  const invite = { email: 'invited-twice@example.com', role: 'viewer' };
  const first = `insert into invitations (organisation_id, id, email, email_key, role, invited_by, created_at, expires_at)
    values ($1, 'inv_of_another_request', $2, $2, 'owner', $3, now(), now() + interval '1 day')`;
  const answer = await during(
    (tx) => tx.query(first, [person.organisationId, invite.email, person.userId]),
    () => person.call('POST', '/v1/invitations', invite),
  );
  expect(answer.status).toBe(201);
  const { body } = await person.call('GET', '/v1/invitations');
  expect(body.data).toMatchObject([{ id: answer.body.id, role: 'viewer' }]);
});

test('[P-3.19] a session that has ended makes and rolls no key, and adds no webhook endpoint', async () => {
  const acts = [
    ['/v1/keys', {}],
    ['/v1/keys/:id/roll', { overlap_seconds: 60 }],
    ['/v1/webhook_endpoints', hook('ear')],
  ] as const;
  for (const [path, body] of acts) {
    const person = await signUp(harness);
    const key = (await person.call('POST', '/v1/keys', {})).body;
    const answer = await during(
      (tx) => tx.query('delete from sessions where person_id = $1', [person.userId]),
      () => person.call('POST', path.replace(':id', key.id), body),
    );
    expect([path, answer.status]).toEqual([path, 401]);
  }
});

test('[P-3.19] a key that has ended adds no webhook endpoint, leads none elsewhere and gets no new secret', async () => {
  const acts = [
    ['POST', '/v1/webhook_endpoints', hook('ear')],
    ['PATCH', '/v1/webhook_endpoints/:id', hook('elsewhere')],
    ['POST', '/v1/webhook_endpoints/:id/rotate_secret', undefined],
  ] as const;
  for (const mode of ['test', 'live'] as const) {
    const { keyIds, ...keys } = await harness.organisation();
    const key = keys[mode];
    const made = await harness.call('POST', '/v1/webhook_endpoints', { key, body: hook('kept') });
    for (const [method, path, body] of acts) {
      await harness.database.query('update api_keys set revoked_at = null where id = $1', [keyIds[mode]]);
      const answer = await during(
        (tx) => tx.query('update api_keys set revoked_at = now() where id = $1', [keyIds[mode]]),
        () => harness.call(method, path.replace(':id', made.body.id), { key, body }),
      );
      expect.soft([mode, method, path, answer.status]).toEqual([mode, method, path, 401]);
    }
    const { rows } = await harness.database.query('select url from webhook_endpoints where id = $1', [
      made.body.id,
    ]);
    expect(rows).toEqual([hook('kept')]);
  }
});

/** An owner, and somebody who is an owner of the same organisation and looks at it. */
async function twoOwners() {
  const [first, second] = [await signUp(harness), await signUp(harness)];
  await harness.database.query(
    `insert into memberships (organisation_id, user_id, role, created_at) values ($1, $2, 'owner', now())`,
    [first.organisationId, second.userId],
  );
  await harness.database.query('update users set email_verified_at = now() where id = $1', [second.userId]);
  await second.call('POST', '/v1/session/organisation', { organisation_id: first.organisationId });
  return { first, second, key: (await first.call('POST', '/v1/keys', {})).body };
}

const ofOwners = [
  ['POST', '/v1/invitations', { email: 'accomplice@example.com', role: 'owner' }],
  ['PATCH', '/v1/members/:first', { role: 'viewer' }],
  ['DELETE', '/v1/members/:first', undefined],
] as const;
const ofDevelopers = [
  ['POST', '/v1/keys', {}],
  ['POST', '/v1/keys/:key/roll', { overlap_seconds: 60 }],
  ['POST', '/v1/webhook_endpoints', hook('ear')],
] as const;
const demoted = (role: string) => `update memberships set role = '${role}' where user_id = $1`;

test.each([
  ['demoted', demoted('developer'), ofOwners, 'insufficient_role'],
  ['demoted to a viewer', demoted('viewer'), ofDevelopers, 'insufficient_role'],
  [
    'removed',
    'delete from memberships where user_id = $1',
    [...ofOwners, ...ofDevelopers],
    'no_organisation',
  ],
] as const)(
  '[P-3.27] a member who is %s lets nobody in, and changes no other, by a request that is open',
  async (_how, change, acts, code) => {
    for (const [method, path, body] of acts) {
      const { first, second, key } = await twoOwners();
      const at = path.replace(':first', first.userId).replace(':key', key.id);
      const answer = await during(
        (tx) => tx.query(`${change} and organisation_id = $2`, [second.userId, first.organisationId]),
        () => second.call(method, at, body),
      );
      expect.soft([method, path, answer.status, answer.body?.code]).toEqual([method, path, 403, code]);
    }
  },
);

test('[P-3.27] a member who is demoted still does by an open request what the new role may, and leaves', async () => {
  for (const [method, path, status] of [
    ['POST', '/v1/keys', 201],
    ['DELETE', '/v1/members/:second', 204],
  ] as const) {
    const { first, second } = await twoOwners();
    const answer = await during(
      (tx) =>
        tx.query(`${demoted('developer')} and organisation_id = $2`, [second.userId, first.organisationId]),
      () => second.call(method, path.replace(':second', second.userId), method === 'POST' ? {} : undefined),
    );
    expect([path, answer.status]).toEqual([path, status]);
  }
});

test('[P-3.19] a reset of the sandbox hides no webhook endpoint from the owner of an address who comes', async () => {
  const squatter = await signUp(harness);
  const id = squatter.organisationId;
  await squatter.call('POST', '/v1/webhook_endpoints', hook('ear'));
  await squatter.call('POST', '/v1/session/forgot', { email: squatter.email });
  const { token } = await nextMail(harness, squatter.email, /password/);
  const answer = await during(
    async (tx) => {
      await tx.query('update organisations set test_epoch = test_epoch + 1 where id = $1', [id]);
      for (const endpoint of await lockEndpoints(tx, `${id}.test`)) {
        await moveEndpoint(tx, endpoint, { ...endpoint, tenantId: `${id}.test.1` });
      }
    },
    () => openBrowser(harness).call('POST', '/v1/session/reset', { token, password: 'the owner has come' }),
  );
  expect(answer.status).toBe(200);
  const { rows } = await harness.database.query(
    `select url from webhook_endpoints where starts_with(tenant_id, $1)`,
    [id],
  );
  expect(rows).toEqual([]);
});

test('[P-3.19] a person who goes to another organisation while the password is reset is no deadlock', async () => {
  const person = await signUp(harness);
  const answer = await during(
    (tx) => tx.query('update users set password_hash = password_hash where id = $1', [person.userId]),
    () => person.call('POST', '/v1/session/organisation', { organisation_id: person.organisationId }),
    (tx) => tx.query('delete from sessions where person_id = $1', [person.userId]),
  );
  expect(answer.status).toBe(200);
  expect((await person.call('GET', '/v1/session')).status).toBe(401);
});

test('[P-3.19] a reset while the password is changed, or reset by another link, is no deadlock and comes too late', async () => {
  const person = await signUp(harness);
  await person.call('POST', '/v1/session/forgot', { email: person.email });
  const { token } = await nextMail(harness, person.email, /password/);
  const answer = await during(
    (tx) => tx.query('update users set password_hash = password_hash where id = $1', [person.userId]),
    () => openBrowser(harness).call('POST', '/v1/session/reset', { token, password: 'the owner has come' }),
    (tx) => tx.query('update mail_tokens set expires_at = created_at where person_id = $1', [person.userId]),
  );
  expect([answer.status, answer.body.code]).toEqual([422, 'link_not_valid']);
});

const resetOf = (organisationId: string) => (tx: Transaction) =>
  harness.parts.payments.resetting.reset(tx, tenantOf(organisationId, 'test'));

test('[P-7.6] an endpoint that is made while the sandbox is being reset stays', async () => {
  const { test: key, id } = await harness.organisation();
  await harness.call('GET', '/v1/payments', { key });
  const made = await during(resetOf(id), () =>
    harness.call('POST', '/v1/webhook_endpoints', { key, body: hook('late') }),
  );
  expect(made.status, made.text).toBe(201);
  const { data } = (await harness.call('GET', '/v1/webhook_endpoints', { key })).body;
  expect(data).toMatchObject([{ id: made.body.id }]);
});

test('[P-7.6] a sandbox that is reset while an endpoint is being made keeps it', async () => {
  const { test: key, id } = await harness.organisation();
  const { webhooks } = harness.parts.webhooks;
  const { holdTenant } = harness.parts.access.keys;
  const input = { ...hook('early'), events: null, description: null };
  const answer = await during(
    async (tx) => webhooks.create(tx, await holdTenant(tx, tenantOf(id, 'test')), input),
    () => harness.call('POST', '/v1/sandbox/reset', { key }),
  );
  expect(answer.status).toBe(200);
  const { data } = (await harness.call('GET', '/v1/webhook_endpoints', { key })).body;
  expect(data).toMatchObject([hook('early')]);
});

test('[P-7.6] endpoints are changed, tested and deleted, and methods made, also while the sandbox is being reset', async () => {
  const acts = [
    ['PATCH', '/v1/webhook_endpoints/:id', { description: 'changed' }, 200],
    ['POST', '/v1/webhook_endpoints/:id/rotate_secret', undefined, 200],
    ['POST', '/v1/webhook_endpoints/:id/test', undefined, 202],
    ['DELETE', '/v1/webhook_endpoints/:id', undefined, 204],
    ['POST', '/v1/payment_methods', { type: 'balance' }, 201],
  ] as const;
  for (const [method, path, body, status] of acts) {
    const { test: key, id } = await harness.organisation();
    const endpoint = await harness.call('POST', '/v1/webhook_endpoints', { key, body: hook('kept') });
    const answer = await during(resetOf(id), () =>
      harness.call(method, path.replace(':id', endpoint.body.id), { key, body }),
    );
    expect([method, path, answer.status]).toEqual([method, path, status]);
    const left = (await harness.call('GET', '/v1/webhook_endpoints', { key })).body.data;
    expect(left).toHaveLength(method === 'DELETE' ? 0 : 1);
    if (status !== 201) continue;
    expect((await harness.call('GET', `/v1/payment_methods/${answer.body.id}`, { key })).status).toBe(200);
  }
});

test('[P-7.6] a process that has not heard of a reset yet finds the endpoints and changes them', async () => {
  const { webhooks } = harness.parts.webhooks;
  const acts = [
    ['GET', '', undefined, 200],
    ['GET', '/:id', undefined, 200],
    ['GET', '/:id/deliveries', undefined, 200],
    ['PATCH', '/:id', hook('moved'), 200],
    ['PATCH', '/:id', { description: 'changed' }, 200],
    ['POST', '/:id/rotate_secret', undefined, 200],
    ['POST', '/:id/test', undefined, 202],
    ['DELETE', '/:id', undefined, 204],
  ] as const;
  const outcomes: unknown[] = [];
  for (const [method, path, body] of acts) {
    const { test: key, id } = await harness.organisation();
    const { body: endpoint } = await harness.call('POST', '/v1/webhook_endpoints', {
      key,
      body: hook('kept'),
    });
    await harness.database.transaction(async (tx) => {
      const epoch = await raiseTestEpoch(tx, id);
      await webhooks.moveEndpoints(tx, tenantOf(id, 'test'), tenantOf(id, 'test', epoch));
    });
    const at = `/v1/webhook_endpoints${path.replace(':id', endpoint.id)}`;
    const answer = await harness.call(method, at, { key, body });
    outcomes.push([method, path, answer.status]);
    if (path === '') expect.soft(answer.body.data).toMatchObject([{ id: endpoint.id }]);
  }
  expect(outcomes).toEqual(acts.map(([method, path, , status]) => [method, path, status]));
});

test('[P-7.6] a process that has not heard of a reset yet repeats nothing from before it, and moves the clock of what came after', async () => {
  const { test: key, id } = await harness.organisation();
  const pay = () =>
    harness.call('POST', '/v1/payments', {
      key,
      headers: { 'idempotency-key': 'across a reset' },
      body: {
        ...{ amount: 2_500, currency: 'USD', rail: 'ach' },
        source: { payment_method_id: 'pm_alice' },
        destination: { payment_method_id: 'pm_bob' },
      },
    });
  const before = await pay();
  await harness.call('POST', '/v1/sandbox/clock', { key, body: { advance: 'PT1S' } });
  await harness.database.transaction((tx) => raiseTestEpoch(tx, id));
  const after = await pay();
  expect([after.status, after.headers.get('idempotent-replayed')]).toEqual([202, null]);
  expect(after.body.id).not.toBe(before.body.id);
  await harness.call('POST', '/v1/sandbox/clock', { key, body: { advance: 'P12D' } });
  const status = async () =>
    (await harness.database.query('select status from payments where id = $1', [after.body.id])).rows[0]
      ?.status;
  await expect.poll(status).toBe('completed');
});
