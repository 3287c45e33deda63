// Bluesky's connector against a server of its published contract.
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BlueskyCredential } from '../../../services/toolhub/src/connectors/bluesky/api.ts';
import { createBlueskyConnector } from '../../../services/toolhub/src/connectors/bluesky/connector.ts';
import { facetsOf } from '../../../services/toolhub/src/connectors/bluesky/rich-text.ts';
import type { RefreshOutcome, ToolContext } from '../../../services/toolhub/src/connectors/connector.ts';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { tryFaults } from '../connector-faults.ts';
import { platformTrial } from '../platform-trial.ts';
import { type BlueskyServer, startBluesky } from './server.ts';

const APP_PASSWORD = 'abcd-efgh-ijkl-mnop';
const connector = createBlueskyConnector();
let server: BlueskyServer;
let credential: BlueskyCredential;
let adaDid: string;
let bobsPost: string;
const { context, call } = platformTrial(
  connector,
  () => server,
  () => credential,
);

beforeAll(async () => {
  server = await startBluesky();
  adaDid = server.addAccount('ada.bsky.test', APP_PASSWORD);
  server.addAccount('bob.bsky.test', 'other');
});
beforeEach(async () => {
  const bare = { service: server.url, identifier: '@ada.bsky.test', app_password: APP_PASSWORD };
  credential = await renewed(context({ credential: bare }));
  bobsPost = server.addPost('bob.bsky.test', 'hello from bob');
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

async function renewed(at: ToolContext): Promise<BlueskyCredential> {
  const outcome = (await connector.refresh?.(at)) as RefreshOutcome<BlueskyCredential>;
  if (outcome.kind !== 'refreshed') throw new Error(outcome.reason);
  return outcome.credential;
}

describe('sessions', () => {
  it('a call without a session sends nothing and asks to be renewed', async () => {
    const { session: _session, ...bare } = credential;
    const before = server.received.length;
    await expect(call('bluesky_get_timeline', {}, context({ credential: bare }))).rejects.toMatchObject({
      code: 'token_expired',
    });
    expect(server.received.length).toBe(before);
    expect(connector.expiresAt?.(bare)).toBeNull();
    expect(connector.expiresAt?.(credential)?.getTime()).toBeGreaterThan(Date.now());
  });

  it('renews by its refresh token, and by the app password once that was used', async () => {
    const logins = server.logins();
    server.expireAccess();
    await expect(call('bluesky_get_timeline', {})).rejects.toMatchObject({ code: 'token_expired' });
    const next = await renewed(context());
    expect(server.logins()).toBe(logins);
    await call('bluesky_get_timeline', {}, context({ credential: next }));
    await renewed(context());
    expect(server.logins()).toBe(logins + 1);
  });

  it('a password that was withdrawn is refused for good', async () => {
    server.expireRefresh();
    const wrong = { ...credential, app_password: 'gone' };
    expect(await connector.refresh?.(context({ credential: wrong }))).toMatchObject({ kind: 'refused' });
    expect(await connector.verify(context({ credential: wrong }))).toMatchObject({ kind: 'rejected' });
    expect(await connector.verify(context())).toEqual({ kind: 'accepted', account: '@ada.bsky.test' });
    const logins = server.logins();
    const named = { status: 'ok', message: null, account: '@ada.bsky.test' };
    expect(await connector.health(context({ credential: await renewed(context()) }))).toEqual(named);
    expect(server.logins()).toBe(logins + 1);
  });
});

it('takes no session that is longer than a header can be, whoever runs the server', async () => {
  const { session: _session, ...bare } = credential;
  const session = { did: adaDid, handle: 'ada.bsky.test', accessJwt: 'a.b.c', refreshJwt: 'a.b.c' };
  for (const field of Object.keys(session)) {
    server.failNext({ kind: 'reply', reply: { json: { ...session, [field]: '.'.repeat(20_000) } } });
    await expect(connector.refresh?.(context({ credential: bare }))).rejects.toMatchObject({
      code: 'platform_unavailable',
    });
  }
});

it('gives up a connection where the server names a reason, and not for the word of a firewall', async () => {
  const { session: _session, ...bare } = credential;
  const taken = { error: 'AccountTakedown', message: 'Account has been taken down' };
  server.failNext({ kind: 'reply', reply: { status: 401, json: taken } });
  expect(await connector.refresh?.(context({ credential: bare }))).toMatchObject({ kind: 'refused' });
  for (const given of [bare, credential])
    for (const reply of [{ status: 403 }, { status: 404, text: '<h1>Not found</h1>' }]) {
      server.failNext({ kind: 'reply', reply });
      await expect(connector.refresh?.(context({ credential: given }))).rejects.toMatchObject({
        code: 'platform_error',
      });
    }
});

it('is looked at without a login of its own: one that is due is made for all, and kept', async () => {
  const { session: _session, ...bare } = credential;
  const logins = server.logins();
  expect(await connector.health(context({ credential: bare }))).toMatchObject({ status: 'token_expired' });
  expect(server.logins()).toBe(logins);
});

describe('tools', () => {
  it('publishes with links, mentions and tags marked in bytes', async () => {
    const text = 'Grüße @bob.bsky.test und @nobody.test: https://example.com/ä?x=1. #neu';
    const { uri } = await call<{ uri: string }>('bluesky_create_post', { text, langs: ['de'] });
    const { value } = server.records.get(uri) as unknown as {
      value: { text: string; facets: ReturnType<typeof facetsOf>; langs: string[] };
    };
    const bytes = Buffer.from(value.text);
    const marked = value.facets.map(({ index, features }) => [
      bytes.subarray(index.byteStart, index.byteEnd).toString(),
      features[0]?.$type.split('#')[1],
    ]);
    expect(marked).toEqual([
      ['@bob.bsky.test', 'mention'],
      ['https://example.com/ä?x=1', 'link'],
      ['#neu', 'tag'],
    ]);
    expect(value.langs).toEqual(['de']);
  });

  it('marks the example of the documentation at the same bytes, and writes records with its words', async () => {
    const text =
      '✨ example mentioning @atproto.com to share the URL 👨‍❤️‍👨 https://en.wikipedia.org/wiki/CBOR.';
    expect(facetsOf(text, new Map([['atproto.com', 'did:plc:ewvi7nxzyoun6zhxrhs64oiz']]))).toEqual([
      {
        index: { byteStart: 23, byteEnd: 35 },
        features: [{ $type: 'app.bsky.richtext.facet#mention', did: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz' }],
      },
      {
        index: { byteStart: 74, byteEnd: 108 },
        features: [{ $type: 'app.bsky.richtext.facet#link', uri: 'https://en.wikipedia.org/wiki/CBOR' }],
      },
    ]);
    const at = context({ now: () => new Date('2026-11-15T12:00:00.000Z') });
    await call('bluesky_create_post', { text: 'Hello World!', langs: ['en-US'] }, at);
    expect(server.received.at(-1)).toMatchObject({
      ...{ method: 'POST', path: '/xrpc/com.atproto.repo.createRecord' },
      raw: `{"repo":"${adaDid}","collection":"app.bsky.feed.post","record":{"$type":"app.bsky.feed.post","text":"Hello World!","createdAt":"2026-11-15T12:00:00.000Z","langs":["en-US"]}}`,
    });
  });

  it('marks no link that is none, since the whole post would be refused with it', () => {
    const bare = ['https://...', 'http://', 'https://)', 'https:///path', 'https://?x', 'https://['];
    for (const text of bare) expect(facetsOf(`see ${text} for more`, new Map()), text).toEqual([]);
    expect(facetsOf('https://... or https://a.test/x', new Map())).toMatchObject([
      { index: { byteStart: 15 }, features: [{ uri: 'https://a.test/x' }] },
    ]);
  });

  it('marks a link that begins with a capital letter, as telephones write it', () => {
    expect(facetsOf('Https://a.test/X HTTP://b.test HTTPS://...', new Map())).toMatchObject([
      { index: { byteStart: 0, byteEnd: 16 }, features: [{ uri: 'Https://a.test/X' }] },
      { index: { byteStart: 17, byteEnd: 30 }, features: [{ uri: 'HTTP://b.test' }] },
    ]);
  });

  it.each([
    ['see example.com/path?x=1#y, please', ['example.com/path?x=1#y']],
    [
      '(bsky.app) Example.COM. www.my-site.co.uk: a.dev:8443/x',
      ['bsky.app', 'Example.COM', 'www.my-site.co.uk', 'a.dev:8443/x'],
    ],
    ['en.wikipedia.org/wiki/A_(b) (example.com/x)', ['en.wikipedia.org/wiki/A_(b)', 'example.com/x']],
    ['package.json e.g. i.e. v1.2 1.2.3.4 etc...and this', []],
    ['ada@example.com john.me@example.com @nobody.com #a.com x/example.com', []],
    ['example.comä a.com.x@b.org a..com -a.com a-.b', []],
    ['https://a.com/b.org http.cat', ['https://a.com/b.org', 'http.cat']],
  ])('marks names without https where their ending is a public one, as the app does: %s', (text, written) => {
    const bytes = Buffer.from(text);
    const marked = facetsOf(text, new Map())
      .filter(({ features }) => features[0]?.uri !== undefined)
      .map(({ index, features }) => [
        bytes.subarray(index.byteStart, index.byteEnd).toString(),
        features[0]?.uri,
      ]);
    expect(marked).toEqual(
      written.map((name) => [name, name.startsWith('https:') ? name : `https://${name}`]),
    );
  });

  it.each([
    ['#neu', ['neu']],
    ['#1! #2026 #... #1,5 #_ # ## #', []],
    ['#1a #2026er, (#bracket)', ['1a', '2026er']],
    ['#foo-bar. #c++, #a.b!? #d’accord', ['foo-bar', 'c++', 'a.b', 'd’accord']],
    ['#a#b C#x', ['a#b']],
    ['＃日本語 #हिन्दी #🦋', ['日本語', 'हिन्दी', '🦋']],
    ['#\ufe0f\u20e3 #soft\u00adly #no\u200bspace', ['soft', 'no']],
    [`#${'x'.repeat(64)}! #${'y'.repeat(70)}`, ['x'.repeat(64)]],
  ])('marks the tags that people wrote, whole, and no others: %s', (text, tags) => {
    const bytes = Buffer.from(text);
    const marked = facetsOf(text, new Map()).map(({ index, features }) => [
      bytes.subarray(index.byteStart, index.byteEnd).toString().slice(1),
      features[0]?.tag,
    ]);
    expect(marked).toEqual(tags.map((tag) => [tag, tag]));
  });

  it('marks every facet within the text, whatever the text is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        for (const { index } of facetsOf(`${text} #tag https://a.test/${text}`, new Map())) {
          expect(index.byteStart).toBeLessThan(index.byteEnd);
          expect(index.byteEnd).toBeLessThanOrEqual(Buffer.byteLength(`${text} #tag https://a.test/${text}`));
        }
      }),
    );
  });

  it('answers in the thread of the first post', async () => {
    const first = await call<{ uri: string; cid: string }>('bluesky_create_post', {
      text: 'one',
      reply_to_uri: bobsPost,
    });
    const second = await call<{ uri: string }>('bluesky_create_post', {
      text: 'two',
      reply_to_uri: first.uri,
    });
    const reply = server.records.get(second.uri)?.value.reply;
    expect(reply).toEqual({
      parent: { uri: first.uri, cid: first.cid },
      root: { uri: bobsPost, cid: server.records.get(bobsPost)?.cid },
    });
    const thread = await call<{ ancestors: { uri: string }[] }>('bluesky_get_thread', { uri: second.uri });
    expect(thread.ancestors.map(({ uri }) => uri)).toEqual([first.uri]);
  });

  it('likes once, and posts once per key', async () => {
    await call('bluesky_like_post', { uri: bobsPost });
    await call('bluesky_like_post', { uri: bobsPost });
    // The same post, named by the author's handle.
    await call('bluesky_like_post', { uri: bobsPost.replace(/did:plc:[0-9a-f]+/, 'bob.bsky.test') });
    expect([...server.records.keys()].filter((uri) => uri.includes('.like/'))).toHaveLength(1);
    const at = context({ idempotencyKey: 'k1' });
    const [one, two] = [
      await call('bluesky_create_post', { text: 'x' }, at),
      await call('bluesky_create_post', { text: 'x' }, at),
    ];
    expect(two).toEqual(one);
    const next = await call('bluesky_create_post', { text: 'y' }, context({ idempotencyKey: 'k2' }));
    expect(next.uri).not.toBe(one.uri);
  });

  it('leaves a post as it is that an app of the account liked, and no other', async () => {
    const likes = () => [...server.records.keys()].filter((key) => key.includes('.like/'));
    const uri = server.addPost('bob.bsky.test', 'liked elsewhere');
    server.addLike('bob.bsky.test', uri);
    const before = likes();
    await call('bluesky_like_post', { uri });
    expect(likes().filter((key) => !before.includes(key))).toEqual([expect.stringContaining(adaDid)]);
    const other = server.addPost('bob.bsky.test', 'liked in the app');
    server.addLike('ada.bsky.test', other);
    const then = likes();
    await call('bluesky_like_post', { uri: other.replace(/did:plc:[0-9a-f]+/, 'bob.bsky.test') });
    expect(likes()).toEqual(then);
  });

  it.each([
    [
      'is none',
      1,
      { status: 400, json: { error: 'InvalidRequest', message: 'No service configured for it' } },
    ],
    // Asked twice.
    ['cannot be reached', 2, { status: 502, json: { error: 'UpstreamFailure', message: 'unreachable' } }],
    ['does not show it', 1, { json: { posts: [] } }],
  ])('likes a post of which no app view tells: it %s', async (title, times, reply) => {
    const uri = server.addPost('bob.bsky.test', title);
    const isAsked = ({ path }: { path: string }) => path === '/xrpc/app.bsky.feed.getPosts';
    for (let time = 0; time < times; time += 1) server.failNext({ kind: 'reply', reply }, isAsked);
    for (let repeat = 0; repeat < 2; repeat += 1) await call('bluesky_like_post', { uri });
    const likes = [...server.records.values()].filter(
      ({ value }) => (value.subject as { uri?: string } | undefined)?.uri === uri,
    );
    expect(likes).toMatchObject([{ author: adaDid }]);
  });

  it('deletes its own posts and no others', async () => {
    const { uri } = await call<{ uri: string }>('bluesky_create_post', { text: 'gone soon' });
    await call('bluesky_delete_post', { uri });
    expect(server.records.has(uri)).toBe(false);
    const before = server.received.length;
    await expect(call('bluesky_delete_post', { uri: bobsPost })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
    expect(server.received.length).toBe(before);
  });

  it('counts characters as people do', async () => {
    await call('bluesky_create_post', { text: '👩‍👩‍👧‍👦'.repeat(100) });
    await expect(call('bluesky_create_post', { text: 'a'.repeat(301) })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('reads pages to the last, profiles, search and what is unread', async () => {
    const first = await call<{ items: unknown[]; next_cursor: string }>('bluesky_get_timeline', { limit: 2 });
    expect(first.items).toHaveLength(2);
    const rest = await call<{ items: unknown[] }>('bluesky_get_timeline', {
      limit: 100,
      cursor: first.next_cursor,
    });
    const posts = [...server.records.keys()].filter((uri) => uri.includes('.post/'));
    expect(rest.items).toHaveLength(posts.length - 2);
    expect(await call('bluesky_get_profile', {})).toMatchObject({
      did: adaDid,
      handle: 'ada.bsky.test',
      posts: 3,
    });
    // As a server answers that nobody has set up an app view for.
    const message = 'No service configured for app.bsky.actor.getProfile';
    server.failNext({ kind: 'reply', reply: { status: 400, json: { error: 'InvalidRequest', message } } });
    expect(await call('bluesky_get_profile', {})).toMatchObject({
      ...{ did: adaDid, handle: 'ada.bsky.test', display_name: null, posts: null },
    });
    // As one answers whose app view cannot be reached: asked twice, then read from the account's own records.
    const unreachable = { status: 502, json: { error: 'UpstreamFailure', message: 'unreachable' } };
    server.failNext({ kind: 'reply', reply: unreachable });
    server.failNext({ kind: 'reply', reply: unreachable });
    expect(await call('bluesky_get_profile', {})).toMatchObject({ did: adaDid, posts: null });
    const found = await call<{ items: { text: string }[] }>('bluesky_search_posts', {
      query: 'from bob',
      sort: 'latest',
    });
    expect(found.items[0]?.text).toBe('hello from bob');
    server.notify('bob.bsky.test', 'like');
    server.notify('bob.bsky.test', 'like');
    const unread = await call<{ items: unknown[] }>('bluesky_list_notifications', { unread_only: true });
    expect(unread.items).toHaveLength(1);
  });
});

describe('what people see of a post beside its text', () => {
  const shown = async (post: object) => {
    const author = { did: adaDid, handle: 'ada.bsky.test' };
    const json = { feed: [{ post: { uri: bobsPost, cid: 'c', author, ...post } }] };
    server.failNext({ kind: 'reply', reply: { json } });
    const { items } = await call<{ items: Record<string, unknown>[] }>('bluesky_get_timeline', {});
    return items[0];
  };
  const uri = 'at://did:plc:1/app.bsky.feed.post/3k';
  const images = [{ alt: 'a cat', fullsize: 'https://cdn.test/full', thumb: 'https://cdn.test/thumb' }];
  const picture = { kind: 'image', alt: 'a cat', url: 'https://cdn.test/full' };
  const view = { uri, author: { did: 'did:plc:1', handle: 'x.test' }, value: { text: 'what was said' } };
  const quoted = {
    ...{ uri, text: 'what was said' },
    author: { did: 'did:plc:1', handle: 'x.test', display_name: null },
  };

  it('is where its links lead, which its text shortens, with that of its card', async () => {
    const link = (target: unknown) => ({
      features: [{ $type: 'app.bsky.richtext.facet#link', uri: target }],
    });
    const facets = [link('https://example.com/a/long/one'), link(7), { features: [{ tag: 'x' }] }, null];
    const external = { uri: 'https://example.com/card', title: 'Card' };
    const embed = { $type: 'app.bsky.embed.external#view', external };
    expect(await shown({ record: { text: 'see example.com/a/l...', facets }, embed })).toMatchObject({
      ...{ text: 'see example.com/a/l...', media: [], quoted: null },
      links: ['https://example.com/a/long/one', 'https://example.com/card'],
    });
  });

  it.each([
    ['pictures', { $type: 'app.bsky.embed.images#view', images }, { media: [picture], quoted: null }],
    ['a gallery', { $type: 'app.bsky.embed.gallery#view', items: images }, { media: [picture] }],
    [
      'a video',
      { $type: 'app.bsky.embed.video#view', alt: 'a film', playlist: 'https://cdn.test/p.m3u8' },
      { media: [{ kind: 'video', alt: 'a film', url: 'https://cdn.test/p.m3u8' }] },
    ],
    ['a quotation', { $type: 'app.bsky.embed.record#view', record: view }, { media: [], quoted }],
    [
      'a quotation and pictures',
      { record: { record: view }, media: { $type: 'app.bsky.embed.images#view', images } },
      { media: [picture], quoted },
    ],
    [
      'a quotation of what is gone',
      { record: { $type: 'app.bsky.embed.record#viewNotFound', uri, notFound: true } },
      { quoted: { uri, author: null, text: null } },
    ],
    ['nothing that is known', { $type: 'test.other', images: 7, record: [] }, { media: [], quoted: null }],
  ])('is %s', async (_name, embed, expected) => {
    expect(await shown({ record: { text: '' }, embed })).toMatchObject(expected);
  });

  it('is read from the record alone, as far as that goes', async () => {
    const embed = { $type: 'app.bsky.embed.recordWithMedia', record: { record: { uri, cid: 'c' } } };
    const media = { $type: 'app.bsky.embed.images', images: [{ alt: 'a cat', image: { size: 1 } }] };
    expect(await shown({ record: { text: '', embed: { ...embed, media } } })).toMatchObject({
      ...{ media: [{ ...picture, url: null }], quoted: { uri, author: null, text: null } },
    });
  });
});

it('reads a thread from the records of its authors where nobody counts and ranks', async () => {
  const { uri: answer } = await call<{ uri: string }>('bluesky_create_post', {
    ...{ text: 'an answer', reply_to_uri: bobsPost },
  });
  const { uri: second } = await call<{ uri: string }>('bluesky_create_post', {
    ...{ text: 'another', reply_to_uri: answer },
  });
  const message = 'No service configured for app.bsky.feed.getPostThread';
  const none = { status: 400, json: { error: 'InvalidRequest', message } };
  server.failNext({ kind: 'reply', reply: none });
  expect(await call('bluesky_get_thread', { uri: answer })).toMatchObject({
    post: { uri: answer, text: 'an answer', reply_to_uri: bobsPost, likes: null },
    ancestors: [{ uri: bobsPost, author: { handle: 'bob.bsky.test' }, text: 'hello from bob' }],
    replies: [{ uri: second, text: 'another' }],
  });
  server.records.delete(bobsPost);
  server.failNext({ kind: 'reply', reply: none });
  expect(await call('bluesky_get_thread', { uri: answer })).toMatchObject({ ancestors: [] });
});

it.each([
  [{ $type: 'app.bsky.feed.defs#blockedPost', uri: 'at://x', blocked: true }, 'BlockedPost'],
  [{ $type: 'app.bsky.feed.defs#notFoundPost', uri: 'at://x', notFound: true }, 'NotFound'],
])('says why a post is not shown: %j', async (thread, platformCode) => {
  server.failNext({ kind: 'reply', reply: { json: { thread } } });
  await expect(call('bluesky_get_thread', { uri: bobsPost })).rejects.toMatchObject({
    ...{ code: 'platform_error', platformCode, outcomeOpen: false },
  });
});

it('says why a password without an app password does not do', async () => {
  const json = { error: 'AuthFactorTokenRequired', message: 'A sign in code has been sent to your email' };
  server.failNext({ kind: 'reply', reply: { status: 401, json } });
  const { session: _session, ...bare } = credential;
  expect(await connector.verify(context({ credential: bare }))).toMatchObject({
    ...{ kind: 'rejected', reason: expect.stringContaining('sign in code') },
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    samples: {
      bluesky_get_profile: () => ({}),
      bluesky_get_timeline: () => ({}),
      bluesky_search_posts: () => ({ query: 'hello' }),
      bluesky_get_thread: () => ({ uri: bobsPost }),
      bluesky_list_notifications: () => ({}),
      bluesky_create_post: () => ({ text: 'hello' }),
      bluesky_like_post: () => ({ uri: bobsPost }),
      bluesky_delete_post: () => ({ uri: bobsPost.replace(/did:plc:[0-9a-f]+/, adaDid) }),
    },
    tokenRefusal: { status: 400, json: { error: 'ExpiredToken', message: 'Token has expired' } },
    slowDown: {
      reply: {
        status: 429,
        json: { error: 'RateLimitExceeded', message: 'Rate Limit Exceeded' },
        headers: { 'retry-after': '9' },
      },
      seconds: 9,
    },
    meanings: [
      ...['InvalidToken', 'AuthMissing', 'AuthenticationRequired'].map(
        (error) => [{ status: 400, json: { error } }, { code: 'token_expired' }] as const,
      ),
      ...['UpstreamFailure', 'UpstreamTimeout', 'NotEnoughResources', 'InternalServerError'].map(
        (error) =>
          [
            { status: 400, json: { error } },
            { code: 'platform_unavailable', platformCode: error },
          ] as const,
      ),
      [{ status: 401 }, { code: 'token_expired' }],
      [{ status: 401, json: { error: 'AccountTakedown' } }, { code: 'platform_error' }],
      [{ status: 502, json: { error: 'SomethingElse' } }, { code: 'platform_unavailable' }],
      [
        { status: 429, json: { error: 'UpstreamFailure' }, headers: { 'ratelimit-reset': '12' } },
        { code: 'rate_limited', retryAfterSeconds: 12 },
      ],
    ],
    refusal: {
      reply: { status: 400, json: { error: 'BlockedActor', message: `no ${APP_PASSWORD}` } },
      code: 'BlockedActor',
    },
    secrets: [APP_PASSWORD],
  });
});
