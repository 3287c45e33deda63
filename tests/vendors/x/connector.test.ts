// X's connector against a server of its published contract.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { createXConnector } from '../../../services/toolhub/src/connectors/x/connector.ts';
import { tryFaults } from '../connector-faults.ts';
import { NOW, platformTrial } from '../platform-trial.ts';
import { tryRenewal } from '../token-endpoint.ts';
import { startX, type XServer } from './server.ts';

const TOKEN = 'x-secret-token-1';
const connector = createXConnector();
let server: XServer;
let postId: string;
const { context, call, all } = platformTrial(
  connector,
  () => server,
  () => ({ access_token: TOKEN }),
);

beforeAll(async () => {
  server = await startX();
  server.tokens.set(TOKEN, '100');
  postId = server.addPost('200', 'Hello @ada & <all>');
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

describe('tools', () => {
  it('reads profiles and posts, with who wrote them', async () => {
    expect(await call('x_get_profile', {})).toMatchObject({ id: '100', username: 'ada', followers: 3 });
    expect(await call('x_get_profile', { username: '@bob' })).toMatchObject({
      id: '200',
      untrusted_content: true,
    });
    expect(await call('x_get_post', { post_id: postId })).toMatchObject({
      ...{ text: 'Hello @ada & <all>', author_username: 'bob', likes: 1, untrusted_content: true },
    });
    await expect(call('x_get_post', { post_id: '1' })).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: 'resource-not-found' },
    });
  });

  it('shows where the links of a post lead, of a long one, too', async () => {
    const entities = (...urls: object[]) => ({ entities: { urls } });
    const link = { url: 'https://t.co/abc123XYZ9', expanded_url: 'https://example.com/a?b=1&c=$&' };
    const other = { url: 'https://t.co/abc123XYZ90', expanded_url: 'https://example.com/other' };
    const text = 'R&amp;D: https://t.co/abc123XYZ9, https://t.co/abc123XYZ90 &amp;lt; https://t.co/unknown';
    const shown = 'R&D: https://example.com/a?b=1&c=$&, https://example.com/other &lt; https://t.co/unknown';
    const short = { id: '7', text, ...entities(link, other) };
    const long = { id: '8', text: 'R&amp;D…', note_tweet: { text, ...entities(link, other) } };
    for (const data of [short, long]) {
      server.failNext({ kind: 'reply', reply: { json: { data } } });
      expect(await call('x_get_post', { post_id: data.id })).toMatchObject({ text: shown });
    }
    expect(server.received.at(-1)?.query.get('tweet.fields')).toContain('entities');
    for (const urls of [7, [null, { url: 'https://t.co/a' }, { url: 1, expanded_url: 2 }]]) {
      const data = { id: '7', text: 'https://t.co/a', entities: { urls } };
      server.failNext({ kind: 'reply', reply: { json: { data } } });
      expect(await call('x_get_post', { post_id: '7' })).toMatchObject({ text: 'https://t.co/a' });
    }
  });

  it('pages to the last, in pages smaller than X gives, too', async () => {
    const made = Array.from({ length: 23 }, (_, count) => server.addPost('200', `needle ${count}`));
    for (const limit of [3, 10, 100]) {
      const found = await all<{ id: string }>('x_search_posts', { query: 'needle', limit });
      expect(found.map(({ id }) => id)).toEqual(made.toReversed());
    }
    const mentions = Array.from({ length: 8 }, () => server.addPost('200', 'again @ada'));
    const seen = await all<{ id: string }>('x_list_mentions', { since_id: postId, limit: 2 });
    expect(seen.map(({ id }) => id)).toEqual(mentions.toReversed());
    await call('x_search_posts', { query: 'a', start_time: '2026-11-14T10:00:00.123+01:00' });
    expect(server.received.at(-1)?.query.get('start_time')).toBe('2026-11-14T09:00:00Z');
    await call('x_search_posts', { query: 'a', start_time: '2016-12-31T23:59:60Z' });
    expect(server.received.at(-1)?.query.get('start_time')).toBe('2016-12-31T23:59:59Z');
    await expect(call('x_search_posts', { query: 'a', cursor: 'nonsense' })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('takes a page of which nothing may be seen for an empty one', async () => {
    const errors = [{ title: 'Authorization Error', type: 'https://api.x.com/2/problems/not-authorized' }];
    server.failNext({ kind: 'reply', reply: { json: { meta: { result_count: 0 }, errors } } });
    expect(await call('x_search_posts', { query: 'a' })).toMatchObject({ items: [], next_cursor: null });
  });

  it('[TH-5.9] says what is wrong with a query, which X calls one parameter or more', async () => {
    const json = {
      errors: [{ parameters: { query: ['a ('] }, message: "missing EOF at '(' (at position 3)" }],
      title: 'Invalid Request',
      detail: 'One or more parameters to your request was invalid.',
      type: 'https://api.twitter.com/2/problems/invalid-request',
    };
    server.failNext({ kind: 'reply', reply: { status: 400, json } });
    await expect(call('x_search_posts', { query: 'a (' })).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: 'invalid-request' },
      message: `X refused: ${json.detail}: missing EOF at '(' (at position 3)`,
    });
  });

  it('publishes, answers, quotes, writes privately and deletes, with the words of the documentation', async () => {
    const made = await call<{ id: string }>('x_create_post', {
      ...{ text: 'yes', reply_to_post_id: postId, quote_post_id: '20' },
    });
    expect(server.received.at(-1)).toMatchObject({
      ...{ method: 'POST', path: '/2/tweets' },
      raw: JSON.stringify({ text: 'yes', reply: { in_reply_to_tweet_id: postId }, quote_tweet_id: '20' }),
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(await call('x_delete_post', { post_id: made.id })).toEqual({ id: made.id, deleted: true });
    await expect(call('x_delete_post', { post_id: postId })).rejects.toMatchObject({
      platformCode: 'client-forbidden',
    });
    expect(await call('x_send_direct_message', { user_id: '200', text: 'psst' })).toEqual({
      ...{ event_id: '1580705921830768647', conversation_id: '100-200' },
    });
    expect(server.received.at(-1)).toMatchObject({
      ...{ path: '/2/dm_conversations/with/200/messages', raw: '{"text":"psst"}' },
    });
    await expect(call('x_create_post', { text: 'x'.repeat(281) })).rejects.toMatchObject({
      platformCode: '403',
    });
  });
});

describe('the account', () => {
  it('is checked, named and probed', async () => {
    expect(await connector.verify(context())).toEqual({ kind: 'accepted', account: '@ada' });
    const wrong = context({ credential: { access_token: 'wrong' } });
    expect(await connector.verify(wrong)).toMatchObject({ kind: 'rejected' });
    expect(await connector.health(context())).toEqual({ status: 'ok', message: null, account: '@ada' });
    expect(await connector.health(wrong)).toMatchObject({ status: 'token_expired' });
  });

  tryRenewal({
    ...{ connector, context, now: NOW, path: '/2/oauth2/token' },
    ...{ server: () => server, endpoint: () => server.endpoint },
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    samples: {
      x_get_profile: () => ({}),
      x_search_posts: () => ({ query: 'hello' }),
      x_list_mentions: () => ({ since_id: '1' }),
      x_get_post: () => ({ post_id: postId }),
      x_create_post: () => ({ text: 'hello', reply_to_post_id: postId, quote_post_id: postId }),
      x_send_direct_message: () => ({ user_id: '200', text: 'hello' }),
      x_delete_post: () => ({ post_id: server.addPost('100', 'mine') }),
    },
    tokenRefusal: { status: 401, json: { title: 'Unauthorized', type: 'about:blank', status: 401 } },
    slowDown: {
      reply: {
        ...{ status: 429, json: { title: 'Too Many Requests', detail: 'Too Many Requests', status: 429 } },
        headers: {
          'x-rate-limit-limit': '900',
          'x-rate-limit-remaining': '0',
          'x-rate-limit-reset': String(NOW.getTime() / 1_000 + 17),
        },
      },
      seconds: 17,
    },
    meanings: [
      [{ status: 429 }, { code: 'rate_limited', retryAfterSeconds: 30 }],
      // The day is used up, the quarter of an hour is not.
      ...[
        [{ user: '0', app: '3' }, 7_000],
        [{ user: '0', app: '0' }, 9_000],
        [{ user: '5', app: '3' }, 17],
      ].map(
        ([remaining, seconds]) =>
          [
            { status: 429, headers: dayWindows(remaining as { user: string; app: string }) },
            { code: 'rate_limited', retryAfterSeconds: seconds as number },
          ] as const,
      ),
      [
        {
          status: 429,
          headers: { 'x-rate-limit-remaining': '39999' },
          json: {
            ...{ title: 'UsageCapExceeded', period: 'Monthly', scope: 'Product' },
            ...{ detail: 'Usage cap exceeded', type: 'https://api.twitter.com/2/problems/usage-capped' },
          },
        },
        { code: 'platform_error', platformCode: 'usage-capped' },
      ],
      [{ status: 503, json: { detail: 'x' } }, { code: 'platform_unavailable' }],
      [{ status: 302, json: { detail: 'x' } }, { code: 'platform_unavailable' }],
      [
        { status: 403, json: { type: 'https://api.x.com/2/problems/client-forbidden', detail: 'x' } },
        { code: 'platform_error', platformCode: 'client-forbidden' },
      ],
      [
        { json: { errors: [{ type: 'https://api.x.com/2/problems/resource-not-found', detail: 'x' }] } },
        { code: 'platform_error', platformCode: 'resource-not-found' },
      ],
      [{ status: 404 }, { code: 'platform_error', platformCode: '404' }],
    ],
    refusal: {
      reply: { status: 400, json: { errors: [{ code: 187, message: `Status is a duplicate ${TOKEN}` }] } },
      code: '187',
    },
    secrets: [TOKEN],
  });
});

/** As X answers where the windows of a day and the short one end at different times. */
function dayWindows({ user, app }: { user: string; app: string }): Record<string, string> {
  const at = (seconds: number) => String(NOW.getTime() / 1_000 + seconds);
  return {
    ...{ 'x-rate-limit-remaining': '90', 'x-rate-limit-reset': at(17) },
    ...{ 'x-user-limit-24hour-remaining': user, 'x-user-limit-24hour-reset': at(7_000) },
    ...{ 'x-app-limit-24hour-remaining': app, 'x-app-limit-24hour-reset': at(9_000) },
  };
}
