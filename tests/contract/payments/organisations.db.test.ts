// Organisations and who belongs to them: roles, invitations, keys that people make, live access. One database, two processes.
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, type Harness, type Instance, startHarness } from './harness.ts';
import { type Browser, nextMail, openBrowser, PASSWORD, signUp, verifyAddress } from './person.ts';

type Person = Awaited<ReturnType<typeof signUp>>;

let harness: Harness;
let other: Instance;
let owner: Person;
beforeAll(async () => {
  harness = await startHarness();
  other = await harness.another({ env: { PAYMENTS_ROLE: 'api' } });
  owner = await signUp(harness);
  await verifyAddress(harness, owner);
});
afterAll(() => harness.stop());

const INVITED = /invited/;
const admin = (method: string, path: string, body?: unknown) =>
  harness.call(method, path, { key: ADMIN_TOKEN, ...(body === undefined ? {} : { body }) });

async function invite(by: Browser, email: string, role: string): Promise<string> {
  const answer = await by.call('POST', '/v1/invitations', { email, role });
  expect(answer.status).toBe(201);
  return (await nextMail(harness, email, INVITED)).token;
}

let joined = 0;

/** Somebody new in the owner's organisation. */
async function join(role: string): Promise<Person> {
  joined += 1;
  const email = `joined${joined}@example.com`;
  const invitation = await invite(owner, email, role);
  return signUp(harness, { email, invitation, organisation: undefined });
}

describe('invitations', () => {
  test('[P-10.3] one that is repeated with its key is answered as at first, however often', async () => {
    const body = { email: 'repeated@example.com', role: 'viewer' };
    const headers = { 'idempotency-key': 'one invitation' };
    const first = await owner.call('POST', '/v1/invitations', body, { headers });
    expect(first.status).toBe(201);
    for (let repeat = 0; repeat < 6; repeat += 1) {
      const again = await owner.call('POST', '/v1/invitations', body, { headers });
      expect([again.status, again.text]).toEqual([201, first.text]);
    }
  });

  test('[P-3.27] nobody joins more organisations than a session can show', async () => {
    const member = await signUp(harness);
    await harness.database.query(
      `with added as (
         insert into organisations (id, name, created_at)
         select 'org_of_many_' || n, 'x', now() from generate_series(1, 99) n returning id)
       insert into memberships (organisation_id, user_id, role, created_at)
       select id, $1, 'viewer', now() from added`,
      [member.userId],
    );
    const token = await invite(owner, member.email, 'viewer');
    const { status, body } = await member.call('POST', '/v1/session/invitations/accept', { token });
    expect([status, body.code]).toEqual([422, 'limit_reached']);
    const session = (await member.call('GET', '/v1/session')).body;
    expect([session.organisation.id, session.organisations.length]).toEqual([member.organisationId, 100]);
    // It still stands, for when there is room.
    await harness.database.query(`delete from memberships where organisation_id = 'org_of_many_1'`);
    const joined = await member.call('POST', '/v1/session/invitations/accept', { token });
    expect(joined.body.organisation.id).toBe(owner.organisationId);
    // Other tests look at the newest organisations.
    await harness.database.query(`delete from memberships where organisation_id like 'org_of_many_%'`);
    await harness.database.query(`delete from organisations where id like 'org_of_many_%'`);
  });

  test('who joins stands in the log of the organisation that was joined, and in no other', async () => {
    const newcomer = await join('viewer');
    const member = await signUp(harness, { email: 'joins.later@example.com' });
    await verifyAddress(harness, member);
    const before = (await member.call('GET', '/v1/session')).body.organisation.id;
    const token = await invite(owner, 'joins.later@example.com', 'developer');
    expect((await member.call('POST', '/v1/session/invitations/accept', { token })).status).toBe(200);
    const { id } = (await owner.call('GET', '/v1/session')).body.organisation;
    const logOf = async (person: Person) =>
      (await person.call('GET', '/v1/audit?limit=100')).body.data as {
        action: string;
        target: string | null;
      }[];
    const log = await logOf(owner);
    expect(log).toContainEqual(expect.objectContaining({ action: 'invitation.accepted', target: id }));
    const signedUp = { action: 'user.created', user_email: newcomer.email };
    expect(log).toContainEqual(expect.objectContaining(signedUp));
    await member.call('POST', '/v1/session/organisation', { organisation_id: before });
    expect((await logOf(member)).map(({ action }) => action)).not.toContain('invitation.accepted');
  });

  test('[P-3.23] a mail invites, names nobody, and its link works once and for its address alone', async () => {
    const email = 'invited@example.com';
    const token = await invite(owner, email, 'developer');
    const { text } = await nextMail(harness, email, INVITED);
    expect(text).toContain('/dashboard/invitation?token=piv_');
    expect(text).not.toMatch(/Acme|Ada|person\d/);
    const visitor = openBrowser(other);
    const shown = await visitor.call('GET', `/v1/session/invitations/${token}`);
    expect(shown.body).toEqual({ organisation: { name: 'Acme' }, email, role: 'developer' });
    const stranger = await signUp(harness);
    const stolen = await stranger.call('POST', '/v1/session/invitations/accept', { token });
    expect([stolen.status, stolen.body.code]).toEqual([403, 'invitation_for_another']);
    const asOther = await openBrowser(harness).call('POST', '/v1/session/signup', {
      ...{ email: 'another@example.com', password: PASSWORD, invitation: token },
    });
    expect([asOther.status, asOther.body.code]).toEqual([403, 'invitation_for_another']);
    const signups = await Promise.all(
      [harness, other].map((at) =>
        openBrowser(at).call('POST', '/v1/session/signup', {
          ...{ email: email.toUpperCase(), password: PASSWORD, name: 'New', invitation: token },
        }),
      ),
    );
    expect(signups.map(({ status }) => status).sort()).toEqual([201, expect.toBeOneOf([409, 422])]);
    const { user, organisation, organisations } = signups.find(({ status }) => status === 201)?.body ?? {};
    expect(user.email_verified).toBe(true);
    expect(organisation).toMatchObject({ id: owner.organisationId, role: 'developer' });
    expect(organisations).toHaveLength(1);
    expect((await visitor.call('GET', `/v1/session/invitations/${token}`)).body.code).toBe('link_not_valid');
  });

  test('[P-3.24] a person may be in several organisations, and looks at one at a time', async () => {
    const guest = await signUp(harness);
    const token = await invite(owner, guest.email, 'viewer');
    const { body } = await guest.call('POST', '/v1/session/invitations/accept', { token });
    expect(body.organisation).toMatchObject({ id: owner.organisationId, role: 'viewer' });
    expect(body.user.email_verified).toBe(true);
    expect(body.organisations.map(({ role }: { role: string }) => role)).toEqual(['owner', 'viewer']);
    const own = await guest.call('POST', '/v1/session/organisation', {
      organisation_id: guest.organisationId,
    });
    expect(own.body.organisation).toMatchObject({ id: guest.organisationId, role: 'owner' });
    const strange = await signUp(harness);
    const foreign = await guest.call('POST', '/v1/session/organisation', {
      organisation_id: strange.organisationId,
    });
    expect(foreign.status).toBe(404);
    const third = await guest.call('POST', '/v1/session/organisations', { name: 'Third' });
    expect([third.status, third.body.organisation.name]).toEqual([201, 'Third']);
    expect(third.body.organisations).toHaveLength(3);
    const again = openBrowser(other);
    const login = await again.call('POST', '/v1/session/login', { email: guest.email, password: PASSWORD });
    expect(login.body.organisation.name).toBe('Third');
  });

  test('[P-10.3] an organisation that is made again with the same key is made once, for each person', async () => {
    const [one, two] = [await signUp(harness), await signUp(harness)];
    const make = (person: Browser, name = 'Second') =>
      person.call('POST', '/v1/session/organisations', { name }, { headers: { 'idempotency-key': 'again' } });
    const answers = await Promise.all([make(one), make(one)]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(1);
    expect((await one.call('GET', '/v1/session')).body.organisations).toHaveLength(2);
    expect((await make(one, 'Third')).body.code).toBe('idempotency_key_reused');
    const foreign = await make(two);
    expect(foreign.body.organisation.id).not.toBe(answers[0]?.body.organisation.id);
    expect(foreign.headers.get('idempotent-replayed')).toBeNull();
  });

  test('[P-3.25] only a verified owner invites; what was taken back or replaced no longer works', async () => {
    const fresh = await signUp(harness);
    const unverified = await fresh.call('POST', '/v1/invitations', {
      email: 'x@example.com',
      role: 'viewer',
    });
    expect([unverified.status, unverified.body.code]).toEqual([403, 'email_not_verified']);
    const email = 'twice@example.com';
    const first = await invite(owner, email, 'viewer');
    expect((await owner.call('POST', '/v1/invitations', { email, role: 'developer' })).status).toBe(201);
    const second = (await nextMail(harness, email, INVITED, 1)).token;
    const read = (token: string) => openBrowser(harness).call('GET', `/v1/session/invitations/${token}`);
    expect([(await read(first)).status, (await read(second)).body.role]).toEqual([422, 'developer']);
    const { body: list } = await owner.call('GET', '/v1/invitations');
    const [open, ...more] = list.data.filter((item: { email: string }) => item.email === email);
    expect(more).toEqual([]);
    expect((await fresh.call('DELETE', `/v1/invitations/${open.id}`)).status).toBe(404);
    expect((await owner.call('DELETE', `/v1/invitations/${open.id}`)).status).toBe(204);
    expect((await read(second)).status).toBe(422);
    const known = await owner.call('POST', '/v1/invitations', { email: owner.email, role: 'viewer' });
    expect([known.status, known.body.code]).toEqual([409, 'already_member']);
    const late = await invite(owner, 'late@example.com', 'viewer');
    harness.time.advance(7 * 24 * 60 * 60_000);
    expect((await read(late)).status).toBe(422);
  });

  test('[P-3.25] of 100 open invitations each can be sent again; those that have expired neither count nor are listed', async () => {
    const host = await signUp(harness);
    await verifyAddress(harness, host);
    await harness.database.query(
      `insert into invitations (organisation_id, id, email, email_key, role, invited_by, created_at, expires_at)
       select $1, 'inv_open_' || n, address, address, 'viewer', $2, $3, $3::timestamptz + interval '1 day'
       from generate_series(1, 100) n, concat('open', n, '@example.com') address`,
      [host.organisationId, host.userId, harness.time.now()],
    );
    const ask = async (email: string) => {
      const { status, body } = await host.call('POST', '/v1/invitations', { email, role: 'developer' });
      return [status, body.code];
    };
    expect(await ask('one-too-many@example.com')).toEqual([422, 'limit_reached']);
    expect(await ask('Open7@example.com')).toEqual([201, undefined]);
    await harness.database.query(`update invitations set expires_at = $1 where id = 'inv_open_8'`, [
      harness.time.now(),
    ]);
    const listed = (await host.call('GET', '/v1/invitations?limit=100')).body;
    expect([listed.data.length, listed.next_cursor]).toEqual([99, null]);
    expect(listed.data.map(({ id }: { id: string }) => id)).not.toContain('inv_open_8');
    expect(await ask('one-more@example.com')).toEqual([201, undefined]);
    expect(await ask('open8@example.com')).toEqual([422, 'limit_reached']);
  });

  test('one address is not filled with invitations', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const answer = await owner.call('POST', '/v1/invitations', {
        email: 'full@example.com',
        role: 'viewer',
      });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
  });
});

describe('roles', () => {
  test('[P-3.26] a viewer reads and can write nothing, a developer writes, an owner manages members', async () => {
    const viewer = await join('viewer');
    const developer = await join('developer');
    const { paths } = (await harness.call('GET', '/openapi.json')).body;
    const writes = Object.entries(paths as Record<string, Record<string, { security?: object[] }>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods)
          .filter(([method]) => ['post', 'put', 'patch', 'delete'].includes(method))
          .filter(([, { security = [] }]) => security.some((way) => 'session' in way))
          .map(([method]) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'any')] as const),
    );
    // Calls for everybody who is logged in: the account is their own. Quotes write nothing.
    const personal = /^\/v1\/(session|admin|payments\/quote)/;
    const refused = writes.filter(([, path]) => !personal.test(path));
    expect(refused.length).toBeGreaterThan(20);
    const answers: string[] = [];
    for (const [method, path] of refused) {
      const { status, body } = await viewer.call(method, path, method === 'DELETE' ? undefined : {}, {
        headers: { 'idempotency-key': 'any' },
      });
      if (!(status === 403 && body.code === 'insufficient_role')) answers.push(`${method} ${path} ${status}`);
    }
    expect(answers).toEqual([]);
    expect((await viewer.call('GET', '/v1/payments')).status).toBe(200);
    expect((await viewer.call('GET', '/v1/members')).status).toBe(200);
    expect((await viewer.call('GET', '/v1/keys')).body.code).toBe('insufficient_role');
    expect((await developer.call('GET', '/v1/keys')).status).toBe(200);
    expect((await developer.call('POST', '/v1/payment_methods', { type: 'balance' })).status).toBe(201);
    for (const [method, path, body] of [
      ['POST', '/v1/invitations', { email: 'x@example.com', role: 'viewer' }],
      ['PATCH', `/v1/members/${viewer.userId}`, { role: 'owner' }],
      ['DELETE', `/v1/members/${viewer.userId}`, undefined],
      ['PATCH', '/v1/organisation', { name: 'Taken over' }],
      ['POST', '/v1/live_access', {}],
    ] as const) {
      expect([path, (await developer.call(method, path, body)).status]).toEqual([path, 403]);
    }
  });

  test('[P-3.27] a changed role and a removed member hold for the next request in every process', async () => {
    const member = await join('developer');
    const write = () => member.call('POST', '/v1/payment_methods', { type: 'balance' }, { at: other });
    expect((await write()).status).toBe(201);
    const changed = await owner.call('PATCH', `/v1/members/${member.userId}`, { role: 'viewer' });
    expect([changed.status, changed.body.role]).toEqual([200, 'viewer']);
    expect((await write()).body.code).toBe('insufficient_role');
    expect((await owner.call('DELETE', `/v1/members/${member.userId}`)).status).toBe(204);
    const after = await member.call('GET', '/v1/payments', undefined, { at: other });
    expect([after.status, after.body.code]).toEqual([403, 'no_organisation']);
    const { body } = await member.call('GET', '/v1/session');
    expect([body.organisation, body.organisations]).toEqual([null, []]);
  });

  test('[P-3.28] an organisation keeps an owner, also when two demote each other at once', async () => {
    const alone = await owner.call('PATCH', `/v1/members/${owner.userId}`, { role: 'viewer' });
    expect([alone.status, alone.body.code]).toEqual([409, 'last_owner']);
    const second = await join('owner');
    const results = await Promise.all([
      owner.call('DELETE', `/v1/members/${second.userId}`),
      second.call('PATCH', `/v1/members/${owner.userId}`, { role: 'viewer' }, { at: other }),
    ]);
    const { rows } = await harness.database.query<{ owners: number }>(
      `select count(*)::int as owners from memberships where organisation_id = $1 and role = 'owner'`,
      [owner.organisationId],
    );
    expect(rows[0]?.owners).toBeGreaterThanOrEqual(1);
    expect(results.some(({ status }) => status < 300)).toBe(true);
    // Whoever lost, the others go on with the first owner as one.
    await harness.database.query(
      `update memberships set role = 'owner' where organisation_id = $1 and user_id = $2`,
      [owner.organisationId, owner.userId],
    );
  });

  test('everybody may leave', async () => {
    const viewer = await join('viewer');
    expect((await viewer.call('DELETE', `/v1/members/${owner.userId}`)).status).toBe(403);
    expect((await viewer.call('DELETE', `/v1/members/${viewer.userId}`)).status).toBe(204);
    expect((await viewer.call('GET', '/v1/members')).body.code).toBe('no_organisation');
  });
});

describe('keys', () => {
  test('[P-3.29] people make, restrict, roll and revoke keys; a revoked one is dead everywhere in a second', async () => {
    const made = await owner.call('POST', '/v1/keys', { name: 'shop', scopes: ['payments:read'] });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ mode: 'test', name: 'shop', scopes: ['payments:read'] });
    const use = async (at: Instance, key: string) => (await at.call('GET', '/v1/payments', { key })).status;
    expect([await use(harness, made.body.key), await use(other, made.body.key)]).toEqual([200, 200]);
    const denied = await harness.call('GET', '/v1/payment_methods', { key: made.body.key });
    expect(denied.body.code).toBe('insufficient_scope');
    const { body: rolled } = await owner.call('POST', `/v1/keys/${made.body.id}/roll`, {
      overlap_seconds: 60,
    });
    expect(rolled.scopes).toEqual(['payments:read']);
    expect([await use(other, made.body.key), await use(other, rolled.key)]).toEqual([200, 200]);
    const again = await owner.call('POST', `/v1/keys/${made.body.id}/roll`, { overlap_seconds: 60 });
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining(rolled.id)]);
    harness.time.advance(61_000);
    // The other process hears of the end that the key has now a moment after it was rolled.
    await withinASecond(
      async () => [await use(other, made.body.key), await use(other, rolled.key)],
      (answers) => expect(answers).toEqual([401, 200]),
    );
    expect((await owner.call('DELETE', `/v1/keys/${rolled.id}`)).status).toBe(204);
    await withinASecond(
      () => use(other, rolled.key),
      (answer) => expect(answer).toBe(401),
    );
    const { body: list } = await owner.call('GET', '/v1/keys?limit=1');
    expect(list.data[0]).toMatchObject({ id: rolled.id, revoked_at: expect.any(String) });
    expect(JSON.stringify(list)).not.toContain(rolled.key);
  });

  test('[P-2.11] keys, members and invitations of another organisation are not there', async () => {
    const stranger = await signUp(harness);
    const { body: key } = await owner.call('POST', '/v1/keys', {});
    for (const [method, path, body] of [
      ['POST', `/v1/keys/${key.id}/roll`, {}],
      ['DELETE', `/v1/keys/${key.id}`, undefined],
      ['PATCH', `/v1/members/${owner.userId}`, { role: 'viewer' }],
      ['DELETE', `/v1/members/${owner.userId}`, undefined],
    ] as const) {
      expect([path, (await stranger.call(method, path, body)).status]).toEqual([path, 404]);
    }
    // A key of the other mode is as unknown as a stranger's.
    const { body: approvedOrganisation } = await admin(
      'POST',
      `/v1/admin/organisations/${owner.organisationId}/live_access`,
      { approved: true },
    );
    expect(approvedOrganisation.status).toBe('approved');
    expect((await owner.call('DELETE', `/v1/keys/${key.id}`, undefined, { mode: 'live' })).status).toBe(404);
    expect((await harness.call('GET', '/v1/payments', { key: key.key })).status).toBe(200);
    const { status, body } = await harness.call('POST', '/v1/keys', { key: key.key, body: {} });
    expect([status, body.code]).toEqual([403, 'person_required']);
  });
});

describe('live access', () => {
  test('[P-3.30] is asked for by a verified owner, decided by the operator, and needed for live keys', async () => {
    const person = await signUp(harness);
    const ask = () => person.call('POST', '/v1/live_access', { reason: 'we sell shoes' });
    expect((await ask()).body.code).toBe('email_not_verified');
    await verifyAddress(harness, person);
    const make = () => person.call('POST', '/v1/keys', {}, { mode: 'live' });
    expect((await make()).body.code).toBe('live_access_required');
    const asked = await ask();
    expect([asked.status, asked.body.status, asked.body.request]).toEqual([
      202,
      'requested',
      'we sell shoes',
    ]);
    expect((await make()).status).toBe(403);
    const { body: waiting } = await admin('GET', '/v1/admin/organisations?live_access=requested');
    expect(waiting.data).toEqual([
      expect.objectContaining({ id: person.organisationId, live_access_request: 'we sell shoes' }),
    ]);
    const decide = (body: unknown) =>
      admin('POST', `/v1/admin/organisations/${person.organisationId}/live_access`, body);
    expect((await decide({ approved: false, reason: 'no shoes' })).body.status).toBe('refused');
    const { body: told } = await person.call('GET', '/v1/live_access');
    expect([told.status, told.reason]).toEqual(['refused', 'no shoes']);
    expect((await nextMail(harness, person.email, /Live access is refused/)).text).toContain('no shoes');
    expect((await ask()).status).toBe(202);
    expect((await decide({ approved: true })).body.status).toBe('approved');
    expect((await nextMail(harness, person.email, /Live access is approved/)).text).toContain('/live/keys');
    const live = await make();
    expect(live.body).toMatchObject({ mode: 'live', key: expect.stringMatching(/^sk_live_/) });
    // Who looks at test mode has no hold on a live key, which needs the approval.
    const ofLive = `/v1/keys/${live.body.id}`;
    expect((await person.call('POST', `${ofLive}/roll`, { overlap_seconds: 0 })).status).toBe(404);
    expect((await person.call('DELETE', ofLive)).status).toBe(404);
    expect((await harness.call('GET', '/v1/payments', { key: live.body.key })).status).toBe(200);
    expect((await ask()).status).toBe(409);
    const made = await harness.organisation();
    const { body: all } = await admin('GET', '/v1/admin/organisations');
    const listed = all.data.find(({ id }: { id: string }) => id === made.id);
    expect(listed).toMatchObject({ live_access: 'approved' });
  });

  test('[P-3.30] taken back, it ends every live key, also those that were being made and rolled', async () => {
    const person = await signUp(harness);
    const decide = (approved: boolean) =>
      admin('POST', `/v1/admin/organisations/${person.organisationId}/live_access`, { approved });
    await decide(true);
    const live = { mode: 'live' } as const;
    const first = (await person.call('POST', '/v1/keys', {}, live)).body;
    const testKey = (await person.call('POST', '/v1/keys', {})).body.key;
    const statusOf = async (key: string, at: Instance) =>
      (await at.call('GET', '/v1/payments', { key })).status;
    for (const at of [harness, other]) expect(await statusOf(first.key, at)).toBe(200);
    const [, ...storm] = await Promise.all([
      decide(false),
      ...Array.from({ length: 10 }, () => person.call('POST', '/v1/keys', {}, { ...live, at: other })),
      person.call('POST', `/v1/keys/${first.id}/roll`, { overlap_seconds: 60 }, { ...live, at: other }),
    ]);
    const made = storm.flatMap(({ body }) => (body.key === undefined ? [] : [body.key as string]));
    for (const key of [first.key, ...made]) {
      for (const at of [harness, other]) {
        await withinASecond(
          () => statusOf(key, at),
          (status) => expect(status).toBe(401),
        );
      }
    }
    expect(await statusOf(testKey, harness)).toBe(200);
    const { body } = await admin('GET', `/v1/admin/organisations/${person.organisationId}/keys`);
    const working = body.data.filter(
      (key: { mode: string; revoked_at: string | null }) => key.mode === 'live' && key.revoked_at === null,
    );
    expect(working).toEqual([]);
  });

  test('[P-3.31] the operator flags a person whose address is verified; only the token does that', async () => {
    const person = await signUp(harness);
    const flag = (operator: boolean) =>
      admin('POST', `/v1/admin/users/${encodeURIComponent(person.email)}/operator`, { operator });
    expect((await flag(true)).status).toBe(409);
    await verifyAddress(harness, person);
    expect((await person.call('GET', '/v1/admin/organisations')).status).toBe(403);
    expect((await flag(true)).body).toMatchObject({ email: person.email, operator: true });
    expect((await person.call('GET', '/v1/admin/organisations')).status).toBe(200);
    expect((await person.call('GET', '/v1/session')).body.user.operator).toBe(true);
    const cross = await person.call(
      'POST',
      `/v1/admin/organisations/${owner.organisationId}/live_access`,
      { approved: false },
      { headers: { origin: 'https://evil.example' } },
    );
    expect(cross.body.code).toBe('csrf');
    const own = await person.call('POST', `/v1/admin/users/${owner.email}/operator`, { operator: true });
    expect(own.status).toBe(401);
    await flag(false);
    expect((await person.call('GET', '/v1/admin/organisations', undefined, { at: other })).status).toBe(403);
    expect(
      (await admin('POST', '/v1/admin/users/nobody@example.com/operator', { operator: true })).status,
    ).toBe(404);
  });
});

describe('sessions', () => {
  test('[P-3.32] are listed and ended one by one, and by a new password; another’s are not there', async () => {
    const person = await signUp(harness);
    const login = async () => {
      const browser = openBrowser(other);
      await browser.call('POST', '/v1/session/login', { email: person.email, password: PASSWORD });
      return browser;
    };
    const [second, third] = [await login(), await login()];
    const { body } = await person.call('GET', '/v1/session/sessions');
    expect(body.data.map(({ current }: { current: boolean }) => current)).toEqual([false, false, true]);
    const page = (await person.call('GET', '/v1/session/sessions?limit=2')).body;
    expect(page.data).toHaveLength(2);
    const stranger = await signUp(harness);
    const end = (browser: Browser) => browser.call('DELETE', `/v1/session/sessions/${body.data[0].id}`);
    expect((await end(stranger)).status).toBe(404);
    expect((await end(person)).status).toBe(204);
    expect((await third.call('GET', '/v1/session')).status).toBe(401);
    expect((await second.call('GET', '/v1/session')).status).toBe(200);
    const change = (current: string) =>
      person.call('POST', '/v1/session/password', { current, new: 'another good password' });
    expect((await change('not this one')).body.code).toBe('wrong_password');
    expect((await change(PASSWORD)).status).toBe(204);
    expect((await second.call('GET', '/v1/session')).status).toBe(401);
    expect((await person.call('GET', '/v1/session')).status).toBe(200);
  });

  test('[P-3.32] all others end at one stroke: neither the one that asks nor another’s', async () => {
    const [person, stranger] = [await signUp(harness), await signUp(harness)];
    const second = openBrowser(other);
    await second.call('POST', '/v1/session/login', { email: person.email, password: PASSWORD });
    expect((await second.call('GET', '/v1/session')).status).toBe(200);
    expect((await person.call('DELETE', '/v1/session/sessions')).status).toBe(204);
    expect((await second.call('GET', '/v1/session')).status).toBe(401);
    for (const browser of [person, stranger])
      expect((await browser.call('GET', '/v1/session')).status).toBe(200);
  });
});
