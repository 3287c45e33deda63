// Instagram's connector against a server of its published contract.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectorError } from '../../../services/toolhub/src/connectors/connector.ts';
import { createInstagramConnector } from '../../../services/toolhub/src/connectors/instagram/connector.ts';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { tryFaults } from '../connector-faults.ts';
import { graphMeanings, graphRefusal, tokenOver } from '../graph.ts';
import { NOW, platformTrial } from '../platform-trial.ts';
import { type InstagramServer, startInstagram } from './server.ts';

const TOKEN = 'IGAAsecretOfInstagram';
const ME = '17841405793187218';
const connector = createInstagramConnector();
let server: InstagramServer;
let mediaId: string;
let commentId: string;
const { context, call, all } = platformTrial(
  connector,
  () => server,
  () => ({ access_token: TOKEN }),
);

beforeAll(async () => {
  server = await startInstagram();
  server.tokens.set(TOKEN, ME);
  mediaId = server.addMedia('hello');
  commentId = server.addComment(mediaId, 'first!');
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

const url = (name: string) => `https://example.com/${name}`;

describe('tools', () => {
  it('reads the profile, posts and comments', async () => {
    expect(await call('instagram_get_profile', {})).toMatchObject({ id: ME, username: 'ada', followers: 3 });
    for (let count = 0; count < 4; count += 1) server.addMedia(`n${count}`);
    const found = await all<{ caption: string }>('instagram_list_media', { limit: 2 });
    expect(found.map(({ caption }) => caption)).toEqual(['n3', 'n2', 'n1', 'n0', 'hello']);
    expect(await all('instagram_list_comments', { media_id: mediaId })).toMatchObject([
      { id: commentId, text: 'first!', username: 'bob' },
    ]);
  });

  it('publishes what is ready, with the words of the documentation', async () => {
    server.processing.polls = 1;
    const before = server.received.length;
    const made = await call<{ id: string }>('instagram_publish_media', {
      ...{ kind: 'image', media_urls: [url('a.jpg')], caption: 'see' },
    });
    server.processing.polls = 0;
    const steps = server.received
      .slice(before)
      .map(({ method, path }) => `${method} ${path.replace(/\d{8}$/, ':id')}`);
    expect(steps).toEqual([
      ...['GET /me', `POST /${ME}/media`, 'GET /:id', 'GET /:id', `POST /${ME}/media_publish`],
    ]);
    expect(server.media.find(({ id }) => id === made.id)?.container).toEqual({
      caption: 'see',
      image_url: url('a.jpg'),
    });
    await call('instagram_publish_media', { kind: 'video', media_urls: [url('a.mp4')] });
    expect(server.media.at(-1)?.container).toMatchObject({ media_type: 'REELS', video_url: url('a.mp4') });
    await call('instagram_publish_media', { kind: 'story_image', media_urls: [url('a.jpg')] });
    expect(server.media.at(-1)?.container).toMatchObject({ media_type: 'STORIES', image_url: url('a.jpg') });
    await call('instagram_publish_media', {
      kind: 'carousel',
      media_urls: [url('a.jpg'), url('b.jpg')],
      caption: 'two',
    });
    expect(server.media.at(-1)?.container).toMatchObject({
      ...{ media_type: 'CAROUSEL', children: expect.stringMatching(/^\d+,\d+$/), caption: 'two' },
    });
  });

  it('waits for a file for as long as the call has time', async () => {
    const before = server.media.length;
    const video = { kind: 'video', media_urls: [url('long.mp4')] };
    server.processing.polls = 30;
    // A hundredth of a second is left before the time that the last step needs, and does not pass.
    await call('instagram_publish_media', video, context({ timeLeftMs: () => 5_010 }));
    expect(server.media.length).toBe(before + 1);
    const late = call('instagram_publish_media', video, context({ timeLeftMs: () => 5_000 }));
    await expect(late).rejects.toMatchObject({
      ...{ code: 'platform_unavailable', platformCode: 'IN_PROGRESS', nothingDone: true, outcomeOpen: false },
      message: expect.stringContaining('nothing was published'),
    });
    server.processing.polls = 0;
    expect(server.media.length).toBe(before + 1);
  });

  it('goes on, by whatever process, from what Instagram had not made ready in the time of a call', async () => {
    const before = server.media.length;
    const video = { kind: 'video', media_urls: [url('longer.mp4')], caption: 'at last' };
    server.processing.polls = 3;
    const late = call('instagram_publish_media', video, context({ timeLeftMs: () => 5_000 }));
    const { message, retryAfterSeconds } = (await late.catch((error) => error)) as ConnectorError;
    expect(retryAfterSeconds).toBe(30);
    const [, container_id = ''] = /container_id (\d+),/.exec(message) ?? [];
    const made = () => server.received.filter(({ path }) => path.endsWith('/media')).length;
    const containers = made();
    const resumed = { ...video, container_id };
    const { id } = await call('instagram_publish_media', resumed, context({ timeLeftMs: () => 5_010 }));
    server.processing.polls = 0;
    expect([made(), server.media.length]).toEqual([containers, before + 1]);
    expect(server.media.at(-1)).toMatchObject({ id, container: { caption: 'at last' } });
    server.processing.end = 'PUBLISHED';
    await expect(call('instagram_publish_media', resumed)).rejects.toMatchObject({
      platformCode: 'PUBLISHED',
    });
    server.processing.end = 'FINISHED';
    expect(server.media.length).toBe(before + 1);
  });

  it('says how to find out what became of a post whose answer was lost, without a second one', async () => {
    const before = server.media.length;
    const image = { kind: 'image', media_urls: [url('lost.jpg')] };
    server.failNext({ kind: 'drop' }, ({ path }) => path.endsWith('/media_publish'));
    const lost = call('instagram_publish_media', image);
    const error = (await lost.catch((reason) => reason)) as ConnectorError;
    expect(error).toMatchObject({ code: 'platform_unavailable', outcomeOpen: true, nothingDone: false });
    const [, container_id = ''] = /container_id (\d+) /.exec(error.message) ?? [];
    expect(server.media.length).toBe(before);
    await call('instagram_publish_media', { ...image, container_id });
    expect(server.media.length).toBe(before + 1);
  });

  it.each([
    [9_007, 2_207_027, 'platform_unavailable'],
    [24, 2_207_008, 'platform_unavailable'],
    [4, 0, 'rate_limited'],
  ])(
    '[TH-7.3] keeps what was fetched where it could not be published just now: %s/%s',
    async (code, sub, means) => {
      const before = server.media.length;
      const image = { kind: 'image', media_urls: [url('soon.jpg')] };
      const reply = graphRefusal(400, code, 'not now', { error_subcode: sub });
      server.failNext({ kind: 'reply', reply }, ({ path }) => path.endsWith('/media_publish'));
      const error = (await call('instagram_publish_media', image).catch(
        (reason) => reason,
      )) as ConnectorError;
      expect(error).toMatchObject({
        ...{ code: means, outcomeOpen: false, nothingDone: true, retryAfterSeconds: expect.any(Number) },
        message: expect.stringContaining('nothing was published'),
      });
      const [, container_id = ''] = /container_id (\d+),/.exec(error.message) ?? [];
      await call('instagram_publish_media', { ...image, container_id });
      expect(server.media.length).toBe(before + 1);
    },
  );

  it('[TH-7.13] leaves open what became of a post where Instagram says that it failed itself', async () => {
    const image = { kind: 'image', media_urls: [url('failed.jpg')] };
    const reply = graphRefusal(400, -1, 'Fatal', { error_subcode: 2_207_001, is_transient: false });
    server.failNext({ kind: 'reply', reply }, ({ path }) => path.endsWith('/media_publish'));
    await expect(call('instagram_publish_media', image)).rejects.toMatchObject({
      ...{ code: 'platform_unavailable', outcomeOpen: true, nothingDone: false },
      message: expect.stringMatching(/container_id \d+ publishes it, unless that was done/),
    });
  });

  it('[TH-7.3] has done nothing where the answer was lost that makes a container of a file', async () => {
    const before = server.media.length;
    const carousel = { kind: 'carousel', media_urls: [url('a.jpg'), url('b.jpg')] };
    for (const fault of [
      { kind: 'drop' },
      { kind: 'broken_json' },
      { kind: 'reply', reply: { status: 502 } },
    ] as const) {
      server.failNext(fault, ({ path }) => path.endsWith('/media'));
      await expect(call('instagram_publish_media', carousel)).rejects.toMatchObject({
        ...{ code: 'platform_unavailable', outcomeOpen: false, nothingDone: true },
      });
    }
    expect(server.media.length).toBe(before);
  });

  it('has published nothing where it was cut while it waited', async () => {
    const before = server.media.length;
    for (let tries = 0; tries < 2; tries += 1)
      server.failNext({ kind: 'drop' }, ({ path }) => /^\/\d{8}$/.test(path));
    const work = call('instagram_publish_media', { kind: 'image', media_urls: [url('a.jpg')] });
    await expect(work).rejects.toMatchObject({ code: 'platform_unavailable', nothingDone: true });
    expect(server.media.length).toBe(before);
  });

  it('publishes nothing of a file that Instagram cannot use', async () => {
    const before = server.media.length;
    server.processing.end = 'ERROR';
    const work = call('instagram_publish_media', { kind: 'video', media_urls: [url('a.mp4')] });
    await expect(work).rejects.toMatchObject({ code: 'platform_error', platformCode: 'ERROR' });
    server.processing.end = 'FINISHED';
    expect(server.media.length).toBe(before);
    for (const bad of [
      { kind: 'image', media_urls: [url('a.jpg'), url('b.jpg')] },
      { kind: 'carousel', media_urls: [url('a.jpg')] },
      { kind: 'story_image', media_urls: [url('a.jpg')], caption: 'x' },
      { kind: 'image', media_urls: ['http://example.com/a.jpg'] },
    ])
      await expect(call('instagram_publish_media', bad)).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('answers comments and people', async () => {
    await call('instagram_reply_comment', { comment_id: commentId, message: 'thanks' });
    expect(server.received.at(-1)).toMatchObject({
      path: `/${commentId}/replies`,
      raw: '{"message":"thanks"}',
    });
    expect(await call('instagram_send_message', { recipient_id: '77', text: 'hi' })).toEqual({
      ...{ message_id: 'aWdfZAG1f', recipient_id: '77' },
    });
    expect(server.received.at(-1)?.raw).toBe('{"recipient":{"id":"77"},"message":{"text":"hi"}}');
  });
});

describe('the account', () => {
  it('is checked, named and probed', async () => {
    expect(await connector.verify(context())).toEqual({ kind: 'accepted', account: '@ada' });
    const wrong = context({ credential: { access_token: 'wrong' } });
    expect(await connector.verify(wrong)).toMatchObject({ kind: 'rejected' });
    expect(await connector.health(wrong)).toMatchObject({ status: 'token_expired' });
  });

  it('is renewed while its token works', async () => {
    const credential = { access_token: 'long-token', expires_at: '2027-01-14T12:00:00.000Z' };
    expect(await connector.refresh?.(context())).toEqual({ kind: 'refreshed', credential });
    const over = context({ credential: { access_token: 'over' } });
    expect(await connector.refresh?.(over)).toMatchObject({ kind: 'refused' });
    server.failNext({ kind: 'reply', reply: { status: 503 } });
    await expect(connector.refresh?.(context())).rejects.toMatchObject({ code: 'platform_unavailable' });
  });

  it('gets a token of 60 days from the login, in either form of the answer', async () => {
    const [login] = connector.auth.providers ?? [];
    const tokenUrl = `${server.url}/access_token`;
    const client = { clientId: 'c', clientSecret: 'client-secret', authorizeUrl: null, tokenUrl };
    for (const answer of [
      { access_token: TOKEN, user_id: 1 },
      { data: [{ access_token: TOKEN, user_id: '1' }] },
    ])
      expect(
        await login?.toCredential({ answer, client, server: null, now: NOW, fetch: context().fetch }),
      ).toMatchObject({
        access_token: 'long-token',
      });
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    samples: {
      instagram_get_profile: () => ({}),
      instagram_list_media: () => ({}),
      instagram_list_comments: () => ({ media_id: mediaId }),
      instagram_publish_media: () => ({ kind: 'image', media_urls: [url('a.jpg')] }),
      instagram_reply_comment: () => ({ comment_id: commentId, message: 'hello' }),
      instagram_send_message: () => ({ recipient_id: '77', text: 'hello' }),
    },
    counting: { instagram_publish_media: ({ path }) => path.endsWith('/media_publish') },
    tokenRefusal: tokenOver,
    meanings: graphMeanings,
    slowDown: {
      reply: { ...graphRefusal(400, 80_002, 'Too many calls'), headers: { 'retry-after': '17' } },
      seconds: 17,
    },
    refusal: { reply: graphRefusal(400, 10, `No permission ${TOKEN}`), code: '10' },
    secrets: [TOKEN],
  });
});
