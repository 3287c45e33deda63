// Facebook's connector against a server of its published contract.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFacebookConnector } from '../../../services/toolhub/src/connectors/facebook/connector.ts';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { tryFaults } from '../connector-faults.ts';
import { graphMeanings, graphRefusal, tokenOver } from '../graph.ts';
import { NOW, platformTrial } from '../platform-trial.ts';
import { type FacebookServer, PAGES, PERSON, startFacebook } from './server.ts';

const TOKEN = 'EAAGsecretOfFacebook';
const [FIRST = '', SECOND = ''] = PAGES;
const connector = createFacebookConnector();
let server: FacebookServer;
let postId: string;
let commentId: string;
const { context, call, all } = platformTrial(
  connector,
  () => server,
  () => ({ access_token: TOKEN }),
);

beforeAll(async () => {
  server = await startFacebook();
  server.tokens.set(TOKEN, PERSON);
  postId = server.addPost(SECOND, 'hello');
  commentId = server.addComment(SECOND, postId, 'first!');
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

const tokenOfLast = () => server.received.at(-1)?.headers.authorization;

describe('tools', () => {
  it('lists pages without their tokens, and posts as the page', async () => {
    const pages = await all<{ id: string }>('facebook_list_pages', { limit: 2 });
    expect(pages.map(({ id }) => id)).toEqual(PAGES);
    expect(JSON.stringify(pages)).not.toContain('page-token');
    const made = Array.from({ length: 5 }, (_, count) => server.addPost(FIRST, `n${count}`));
    const found = await all<{ id: string }>('facebook_list_posts', { page_id: FIRST, limit: 2 });
    expect(found.map(({ id }) => id)).toEqual(made.toReversed());
    expect(tokenOfLast()).toBe(`Bearer page-token-of-${FIRST}`);
  });

  it('publishes now or later, and deletes', async () => {
    const made = await call<{ id: string }>('facebook_create_post', {
      ...{
        page_id: FIRST,
        message: 'soon',
        link: 'https://example.com/',
        scheduled_at: '2026-11-15T12:10:00Z',
      },
    });
    expect(server.received.at(-1)).toMatchObject({
      ...{
        method: 'POST',
        path: `/${FIRST}/feed`,
        headers: { authorization: `Bearer page-token-of-${FIRST}` },
      },
      raw: JSON.stringify({
        ...{ message: 'soon', link: 'https://example.com/', published: false },
        scheduled_publish_time: NOW.getTime() / 1_000 + 600,
      }),
    });
    for (const at of ['2026-11-15T12:09:59Z', '2027-11-15T12:00:00Z'])
      await expect(
        call('facebook_create_post', { page_id: FIRST, message: 'x', scheduled_at: at }),
      ).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(await call('facebook_delete_post', { post_id: made.id })).toEqual({ id: made.id, deleted: true });
    await expect(call('facebook_delete_post', { post_id: made.id })).rejects.toMatchObject({
      platformCode: '100',
    });
  });

  it('finds the page of a comment whose id does not say it, and answers as that page', async () => {
    expect(await all('facebook_list_comments', { object_id: postId })).toMatchObject([
      { id: commentId, message: 'first!', from_name: 'Bob' },
    ]);
    await call('facebook_reply_comment', { comment_id: commentId, message: 'thanks' });
    expect(server.received.at(-1)).toMatchObject({
      path: `/${commentId}/comments`,
      raw: '{"message":"thanks"}',
    });
    expect(tokenOfLast()).toBe(`Bearer page-token-of-${SECOND}`);
    const unknown = call('facebook_reply_comment', { comment_id: '9_9', message: 'x' });
    await expect(unknown).rejects.toMatchObject({ code: 'platform_error', platformCode: 'not_a_page' });
    const isLook = ({ path }: { path: string }) => path === `/${commentId}`;
    server.failNext({ kind: 'reply', reply: graphRefusal(400, 4, 'x') }, isLook);
    await expect(
      call('facebook_reply_comment', { comment_id: commentId, message: 'x' }),
    ).rejects.toMatchObject({ code: 'rate_limited' });
    server.failNext({ kind: 'reply', reply: { json: { data: [{ id: SECOND, name: 'Only looked at' }] } } });
    await expect(
      call('facebook_reply_comment', { comment_id: `${SECOND}_9`, message: 'x' }),
    ).rejects.toMatchObject({ platformCode: 'not_a_page', outcomeOpen: false });
  });

  it('works with the pasted token of a page, which runs no pages but is one', async () => {
    const at = context({ credential: { access_token: `page-token-of-${SECOND}` } });
    expect(await connector.verify(at)).toEqual({ kind: 'accepted', account: `Page ${SECOND}` });
    expect(await call('facebook_list_pages', {}, at)).toMatchObject({
      ...{ items: [{ id: SECOND, name: `Page ${SECOND}`, category: 'Shop' }], next_cursor: null },
    });
    const comments = await call('facebook_list_comments', { object_id: postId }, at);
    expect(comments).toMatchObject({ items: [{ id: commentId }] });
    await call('facebook_reply_comment', { comment_id: commentId, message: 'as the page' }, at);
    expect(tokenOfLast()).toBe(`Bearer page-token-of-${SECOND}`);
    const made = await call<{ id: string }>('facebook_create_post', { page_id: SECOND, message: 'x' }, at);
    expect(await call('facebook_delete_post', { post_id: made.id }, at)).toMatchObject({ deleted: true });
    const other = call('facebook_create_post', { page_id: FIRST, message: 'x' }, at);
    await expect(other).rejects.toMatchObject({ platformCode: 'not_a_page' });
    await expect(call('facebook_list_pages', { cursor: 'bm9uZQ' }, at)).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('answers people with the words of the documentation', async () => {
    const sent = await call('facebook_send_message', { page_id: FIRST, recipient_id: '77', text: 'hi' });
    expect(sent).toEqual({ message_id: 'm_AG5Hz2U', recipient_id: '77' });
    expect(server.received.at(-1)?.raw).toBe(
      '{"recipient":{"id":"77"},"messaging_type":"RESPONSE","message":{"text":"hi"}}',
    );
  });
});

describe('the account', () => {
  const oauthClient = (clientSecret = 'client-secret') => ({
    oauthClient: () => ({ clientId: 'c', clientSecret, authorizeUrl: null, tokenUrl: null }),
  });

  it('is checked, named and probed', async () => {
    expect(await connector.verify(context())).toEqual({ kind: 'accepted', account: 'Ada' });
    const wrong = context({ credential: { access_token: 'wrong' } });
    expect(await connector.verify(wrong)).toMatchObject({ kind: 'rejected' });
    expect(await connector.health(wrong)).toMatchObject({ status: 'token_expired' });
  });

  it('is renewed while its token works; a wrong registration or an outage ends no connection', async () => {
    expect(connector.isRefreshable?.({ access_token: 'x' }, () => null)).toBe(false);
    expect(connector.isRefreshable?.({ access_token: 'x', expires_at: NOW.toISOString() }, () => null)).toBe(
      true,
    );
    expect(await connector.refresh?.(context(oauthClient()))).toEqual({
      ...{
        kind: 'refreshed',
        credential: { access_token: 'long-token', expires_at: '2027-01-14T12:00:00.000Z' },
      },
    });
    const over = context({ ...oauthClient(), credential: { access_token: 'over' } });
    expect(await connector.refresh?.(over)).toMatchObject({ kind: 'refused' });
    await expect(connector.refresh?.(context(oauthClient('wrong')))).rejects.toMatchObject({
      code: 'platform_unavailable',
    });
    for (const reply of [{ status: 503 }, graphRefusal(200, 2, 'x')]) {
      server.failNext({ kind: 'reply', reply });
      await expect(connector.refresh?.(context(oauthClient()))).rejects.toMatchObject({
        code: 'platform_unavailable',
      });
    }
    server.failNext({ kind: 'reply', reply: { ...tokenOver, status: 200 } });
    expect(await connector.refresh?.(context(oauthClient()))).toMatchObject({ kind: 'refused' });
    // Without a registration nothing but a new login helps.
    expect(await connector.refresh?.(context())).toMatchObject({ kind: 'refused' });
  });

  it('gets a token of 60 days from the login', async () => {
    const [login] = connector.auth.providers ?? [];
    const at = context();
    const client = {
      clientId: 'c',
      clientSecret: 'client-secret',
      authorizeUrl: null,
      tokenUrl: `${server.url}/oauth/access_token`,
    };
    const grant = {
      server: null,
      answer: { access_token: TOKEN, expires_in: 3_600 },
      client,
      now: NOW,
      fetch: at.fetch,
    };
    expect(await login?.toCredential(grant)).toMatchObject({ access_token: 'long-token' });
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    samples: {
      facebook_list_pages: () => ({}),
      facebook_list_posts: () => ({ page_id: FIRST }),
      facebook_list_comments: () => ({ object_id: postId }),
      facebook_create_post: () => ({ page_id: FIRST, message: 'hello' }),
      facebook_reply_comment: () => ({ comment_id: commentId, message: 'hello' }),
      facebook_send_message: () => ({ page_id: FIRST, recipient_id: '77', text: 'hello' }),
      facebook_delete_post: () => ({ post_id: server.addPost(FIRST, 'mine') }),
    },
    tokenRefusal: tokenOver,
    meanings: graphMeanings,
    slowDown: {
      reply: { ...graphRefusal(400, 32, 'Page request limit reached'), headers: { 'retry-after': '17' } },
      seconds: 17,
    },
    refusal: { reply: graphRefusal(400, 368, `Blocked ${TOKEN}`), code: '368' },
    secrets: [TOKEN],
  });
});
