// Mastodon's connector against a server of its published contract.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMastodonConnector } from '../../../services/toolhub/src/connectors/mastodon/connector.ts';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { tryFaults } from '../connector-faults.ts';
import { NOW, platformTrial } from '../platform-trial.ts';
import { type MastodonServer, startMastodon } from './server.ts';

const TOKEN = 'mastodon-secret-token-1';
const connector = createMastodonConnector();
let server: MastodonServer;
let statusId: string;
const { context, call, all } = platformTrial(
  connector,
  () => server,
  () => ({ instance_url: server.url, access_token: TOKEN }),
);

beforeAll(async () => {
  server = await startMastodon();
});
beforeEach(() => {
  server.addAccount('ada', TOKEN);
  server.addAccount('bob', 'another');
  statusId = server.addStatus('bob', '<p>Hello <b>all</b> &amp; &lt;you&gt;<br>#Test</p><p>second</p>');
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

describe('tools', () => {
  it('reads timelines page by page, to the last', async () => {
    for (let count = 0; count < 45; count += 1) server.addStatus('bob', `<p>n${count} #Test</p>`);
    const seen = await all<{ id: string }>('mastodon_get_timeline', {
      kind: 'tag',
      tag: '#Test',
      limit: 100,
    });
    expect(seen.map(({ id }) => id)).toEqual(
      [...server.statuses.values()]
        .filter(({ content }) => content.includes('#Test'))
        .map(({ id }) => id)
        .reverse(),
    );
    await expect(call('mastodon_get_timeline', { kind: 'home', tag: 'x' })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('shows text as text, marked as written by strangers', async () => {
    const { status, untrusted_content } = await call<{
      status: { text: string };
      untrusted_content: boolean;
    }>('mastodon_get_thread', { status_id: statusId });
    expect(status.text).toBe('Hello all & <you>\n#Test\n\nsecond');
    expect(untrusted_content).toBe(true);
  });

  it('cuts a post that is far too long, so that no server holds up the calls of others', async () => {
    const endless = server.addStatus('bob', '&lt;'.repeat(1024 * 1024));
    const { status } = await call<{ status: { text: string } }>('mastodon_get_thread', {
      status_id: endless,
    });
    expect(status.text).toBe(`${'<'.repeat(16 * 1024)}…`);
    server.statuses.delete(endless);
  });

  it('shows what can be chosen in a poll, of a boosted one, too', async () => {
    const account = { id: '1', username: 'bob' };
    const options = [{ title: 'tea', votes_count: 2 }, { title: 'coffee', votes_count: null }, 7];
    const poll = { options, multiple: true, expires_at: '2026-11-20T10:00:00.000Z', expired: false };
    const asked = { id: '1', account, content: '<p>Which?</p>', poll };
    const boost = { ...asked, id: '2', poll: null, reblog: asked };
    server.failNext({
      kind: 'reply',
      reply: { json: [boost, asked, { ...asked, id: '3', poll: undefined }] },
    });
    const { items } = await call<{ items: { poll: unknown }[] }>('mastodon_get_timeline', { kind: 'home' });
    const choices = [
      { text: 'tea', votes: 2 },
      { text: 'coffee', votes: null },
    ];
    const shown = { choices, multiple: true, ends_at: '2026-11-20T10:00:00.000Z', ended: false };
    expect(items.map((item) => item.poll)).toEqual([shown, shown, null]);
  });

  it('of a thread of thousands reads the nearest above and the first below', async () => {
    const account = { id: '1', username: 'bob' };
    const statuses = (kind: string) =>
      Array.from({ length: 3_000 }, (_, n) => ({ id: `${kind}${n}`, account, content: '<p>answer</p>' }));
    const context = { ancestors: statuses('above'), descendants: statuses('below') };
    server.failNext({ kind: 'reply', reply: { json: { id: statusId, account } } });
    server.failNext({ kind: 'reply', reply: { json: context } });
    const thread = await call<Record<'ancestors' | 'descendants', { id: string }[]>>('mastodon_get_thread', {
      status_id: statusId,
    });
    const [above, below] = [thread.ancestors, thread.descendants].map((each) => each.map(({ id }) => id));
    expect([above?.length, above?.at(-1), above?.[0]]).toEqual([80, 'above2999', 'above2920']);
    expect([below?.length, below?.[0], below?.at(-1)]).toEqual([500, 'below0', 'below499']);
  });

  it('publishes, answers, favourites and deletes', async () => {
    const made = await call<{ id: string }>('mastodon_create_status', {
      text: 'answer',
      visibility: 'unlisted',
      reply_to_id: statusId,
      spoiler_text: 'careful',
    });
    expect(server.received.at(-1)).toMatchObject({
      method: 'POST',
      path: '/api/v1/statuses',
      body: { status: 'answer', visibility: 'unlisted', in_reply_to_id: statusId, spoiler_text: 'careful' },
    });
    expect(server.received.at(-1)?.headers['idempotency-key']).toBeUndefined();
    const thread = await call<{ descendants: { id: string }[] }>('mastodon_get_thread', {
      status_id: statusId,
    });
    expect(thread.descendants.map(({ id }) => id)).toEqual([made.id]);
    expect(await call('mastodon_favourite_status', { status_id: made.id })).toMatchObject({
      favourited: true,
    });
    expect(await call('mastodon_favourite_status', { status_id: made.id })).toMatchObject({
      favourited: true,
    });
    expect(await call('mastodon_delete_status', { status_id: made.id })).toEqual({
      id: made.id,
      deleted: true,
    });
    await expect(call('mastodon_delete_status', { status_id: made.id })).rejects.toMatchObject({
      code: 'platform_error',
      platformCode: '404',
    });
  });

  describe('an answer of which nobody said who is to see it', () => {
    const answer = async (visibility: string, text = 'answer to @bob') => {
      const replyTo = server.addStatus('bob', '<p>hush</p>', { visibility });
      const made = await call<{ visibility: string }>('mastodon_create_status', {
        text,
        reply_to_id: replyTo,
      });
      return made.visibility;
    };

    it.each([
      ['public', 'public', 'public'],
      ['unlisted', 'public', 'unlisted'],
      ['private', 'public', 'private'],
      ['direct', 'public', 'direct'],
      // What the account shows to fewer people stays so.
      ['public', 'private', 'private'],
      ['unlisted', 'private', 'private'],
      ['private', 'unlisted', 'private'],
      ['local', 'private', 'local'],
    ])('to one that is %s, by an account that writes %s, is %s', async (answered, own, seen) => {
      server.privacy.set('ada', own);
      expect(await answer(answered)).toBe(seen);
      server.privacy.delete('ada');
    });

    it('is not sent where it would reach nobody', async () => {
      const sentBefore = server.received.filter(({ method }) => method === 'POST').length;
      await expect(answer('direct', 'write to ada@example.com')).rejects.toMatchObject({
        code: 'invalid_arguments',
        nothingDone: true,
      });
      expect(server.received.filter(({ method }) => method === 'POST')).toHaveLength(sentBefore);
    });

    it('is what the caller says, if it is said', async () => {
      const replyTo = server.addStatus('bob', '<p>hush</p>', { visibility: 'direct' });
      const args = { text: 'for all', reply_to_id: replyTo, visibility: 'public' };
      expect(await call('mastodon_create_status', args)).toMatchObject({ visibility: 'public' });
    });
  });

  it('asks with the words of the documentation', async () => {
    const at = context({ idempotencyKey: 'key-of-the-words' });
    const args = { text: 'test content', visibility: 'unlisted', reply_to_id: statusId, spoiler_text: 'cw' };
    await call('mastodon_create_status', args, at);
    expect(server.received.at(-1)).toMatchObject({
      ...{ method: 'POST', path: '/api/v1/statuses' },
      raw: `{"status":"test content","visibility":"unlisted","in_reply_to_id":"${statusId}","spoiler_text":"cw"}`,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json; charset=utf-8',
        'idempotency-key': 'key-of-the-words',
      },
    });
    const asked = async (name: string, its: Record<string, unknown>) => {
      await call(name, its);
      const { method, path, query } = server.received.at(-1) ?? {};
      return `${method} ${path}?${decodeURIComponent(String(query))}`;
    };
    expect(await asked('mastodon_get_timeline', { kind: 'local', limit: 5 })).toBe(
      'GET /api/v1/timelines/public?local=true&limit=5',
    );
    expect(await asked('mastodon_list_notifications', { types: ['mention', 'poll'], limit: 5 })).toBe(
      'GET /api/v1/notifications?types[]=mention&types[]=poll&limit=5',
    );
    expect(await asked('mastodon_search', { query: 'cats', type: 'accounts', limit: 2 })).toBe(
      'GET /api/v2/search?q=cats&type=accounts&limit=2',
    );
    // An address is looked up at its own server, which is asked for.
    expect(await asked('mastodon_search', { query: '@cat@cats.test', type: 'accounts' })).toBe(
      'GET /api/v2/search?q=@cat@cats.test&type=accounts&limit=20&resolve=true',
    );
  });

  it('takes ids as the server makes them: they are not always numbers', async () => {
    const uuid = '01a1e199-014e-7a09-98db-01de76c16ded';
    const account = { id: uuid, username: 'bob', acct: 'bob' };
    const status = { id: uuid, account, content: '<p>hi</p>', favourited: true };
    const place = `2026-11-15T10:00:00.000Z/follow/${uuid}`;
    const link = `<${server.url}/api/v1/notifications?max_id=${encodeURIComponent(place)}>; rel="next"`;
    const json = [
      { id: place, type: 'follow', account },
      { id: '2', type: 'moderation_warning' },
    ];
    server.failNext({ kind: 'reply', reply: { json, headers: { link } } });
    const page = await call<{ items: unknown[]; next_cursor: string }>('mastodon_list_notifications', {});
    expect(page.items).toMatchObject([
      { id: place, account: { id: uuid } },
      { id: '2', account: null, status: null },
    ]);
    server.failNext({ kind: 'reply', reply: { json: [] } });
    await call('mastodon_list_notifications', { cursor: page.next_cursor });
    expect(server.received.at(-1)?.query.get('max_id')).toBe(place);
    server.failNext({ kind: 'reply', reply: { json: status } });
    server.failNext({ kind: 'reply', reply: { json: { ancestors: [], descendants: [] } } });
    expect(await call('mastodon_get_thread', { status_id: uuid })).toMatchObject({ status: { id: uuid } });
    expect(server.received.at(-1)?.path).toBe(`/api/v1/statuses/${uuid}/context`);
    // Where a second favourite is not found, the status itself says whether it is one.
    const notFound = { kind: 'reply', reply: { status: 404, json: { error: 'Record not found' } } } as const;
    server.failNext(notFound);
    server.failNext({ kind: 'reply', reply: { json: status } });
    expect(await call('mastodon_favourite_status', { status_id: uuid })).toEqual({
      id: uuid,
      favourited: true,
    });
    server.failNext(notFound);
    server.failNext({ kind: 'reply', reply: { json: { ...status, favourited: false } } });
    await expect(call('mastodon_favourite_status', { status_id: uuid })).rejects.toMatchObject({
      platformCode: '404',
    });
  });

  it('uses the idempotency of the server: a lost answer is asked for again, and one status is there', async () => {
    const before = server.statuses.size;
    const at = context({ idempotencyKey: 'key-1' });
    await call('mastodon_create_status', { text: 'once' }, at);
    server.failNext({ kind: 'drop' });
    await call('mastodon_create_status', { text: 'once' }, at);
    expect(server.statuses.size).toBe(before + 1);
  });

  it('searches and lists notifications', async () => {
    server.notify('mention', 'bob', statusId);
    server.notify('follow', 'bob', null);
    const mentions = await call<{ items: { type: string }[] }>('mastodon_list_notifications', {
      types: ['mention'],
    });
    expect(mentions.items.map(({ type }) => type)).toEqual(['mention']);
    expect(server.received.at(-1)?.query.getAll('types[]')).toEqual(['mention']);
    const accounts = await call<{ items: { account: { username: string } }[] }>('mastodon_search', {
      query: 'bo',
      type: 'accounts',
    });
    expect(accounts.items.map(({ account }) => account.username)).toEqual(['bob']);
  });
});

describe('the account', () => {
  it('is checked, named and probed', async () => {
    expect(await connector.verify(context())).toEqual({
      kind: 'accepted',
      account: `@ada@${new URL(server.url).host}`,
    });
    const wrong = context({ credential: { instance_url: server.url, access_token: 'wrong' } });
    expect(await connector.verify(wrong)).toMatchObject({ kind: 'rejected' });
    expect(await connector.health(context())).toEqual({
      ...{ status: 'ok', message: null, account: `@ada@${new URL(server.url).host}` },
    });
    expect(await connector.health(wrong)).toMatchObject({ status: 'token_expired' });
  });

  it('lives on a server that passes the guard', () => {
    const placeOf = (instance_url: string) =>
      connector.auth.addresses?.({ instance_url, access_token: 'x' })[0];
    const pointer = '/instance_url';
    expect(placeOf('https://social.test/')).toEqual({
      pointer,
      host: 'social.test',
      port: 443,
      isPlain: false,
    });
    expect(placeOf('http://[::1]:3000')).toEqual({ pointer, host: '::1', port: 3000, isPlain: true });
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    samples: {
      mastodon_get_timeline: () => ({ kind: 'home' }),
      mastodon_search: () => ({ query: 'hello' }),
      mastodon_get_thread: () => ({ status_id: statusId }),
      mastodon_list_notifications: () => ({}),
      mastodon_create_status: () => ({ text: 'hello', reply_to_id: statusId, visibility: 'public' }),
      mastodon_favourite_status: () => ({ status_id: statusId }),
      mastodon_delete_status: () => ({ status_id: server.addStatus('ada', '<p>mine</p>') }),
    },
    tokenRefusal: { status: 401, json: { error: 'The access token is invalid' } },
    slowDown: {
      reply: { status: 429, json: { error: 'Too many requests' }, headers: { 'retry-after': '17' } },
      seconds: 17,
    },
    meanings: [
      [{ status: 401 }, { code: 'token_expired' }],
      [
        { status: 429, headers: { 'x-ratelimit-reset': new Date(NOW.getTime() + 90_000).toISOString() } },
        { code: 'rate_limited', retryAfterSeconds: 90 },
      ],
      [{ status: 500, json: { error: 'scope' } }, { code: 'platform_unavailable' }],
      [
        { status: 403, json: { error: 'This action is outside the authorized scopes' } },
        { code: 'platform_error', platformCode: 'insufficient_scope' },
      ],
      [
        { status: 403, json: { error: 'Your login is disabled' } },
        { code: 'platform_error', platformCode: '403' },
      ],
    ],
    refusal: { reply: { status: 422, json: { error: `Validation failed for ${TOKEN}` } }, code: '422' },
    secrets: [TOKEN],
  });
});
