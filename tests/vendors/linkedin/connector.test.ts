// LinkedIn's connector against a server of its published contract.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLinkedinConnector } from '../../../services/toolhub/src/connectors/linkedin/connector.ts';
import { littleText } from '../../../services/toolhub/src/connectors/linkedin/little-text.ts';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { tryFaults } from '../connector-faults.ts';
import { NOW, platformTrial } from '../platform-trial.ts';
import { tryRenewal } from '../token-endpoint.ts';
import { type LinkedinServer, startLinkedin } from './server.ts';

const TOKEN = 'linkedin-secret-token-1';
const ME = 'urn:li:person:782bbtaQ';
const connector = createLinkedinConnector();
let server: LinkedinServer;
let postUrn: string;
const { context, call, all } = platformTrial(
  connector,
  () => server,
  () => ({ access_token: TOKEN }),
);

beforeAll(async () => {
  server = await startLinkedin();
  server.tokens.set(TOKEN, '782bbtaQ');
  postUrn = server.addPost(ME);
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

describe('tools', () => {
  it('reads the profile', async () => {
    expect(await call('linkedin_get_profile', {})).toMatchObject({
      urn: ME,
      name: 'Ada Lovelace',
      email: null,
    });
  });

  it('publishes with the words of the documentation', async () => {
    const made = await call<{ urn: string }>('linkedin_create_post', {
      ...{ text: 'Hi (all) #Rust', visibility: 'CONNECTIONS', link_url: 'https://example.com/news?x=1' },
    });
    expect(server.received.at(-1)).toMatchObject({
      ...{ method: 'POST', path: '/rest/posts' },
      raw: JSON.stringify({
        author: ME,
        commentary: 'Hi \\(all\\) {hashtag|\\#|Rust}',
        visibility: 'CONNECTIONS',
        distribution: {
          feedDistribution: 'MAIN_FEED',
          targetEntities: [],
          thirdPartyDistributionChannels: [],
        },
        content: { article: { source: 'https://example.com/news?x=1', title: 'example.com/news' } },
        lifecycleState: 'PUBLISHED',
        isReshareDisabledByAuthor: false,
      }),
      headers: { authorization: `Bearer ${TOKEN}`, 'x-restli-protocol-version': '2.0.0' },
    });
    expect(server.posts.has(made.urn)).toBe(true);
    expect(await call('linkedin_delete_post', { post_urn: made.urn })).toEqual({
      urn: made.urn,
      deleted: true,
    });
    await expect(call('linkedin_delete_post', { post_urn: made.urn })).rejects.toMatchObject({
      platformCode: '404',
    });
  });

  it('comments, and lists comments page by page', async () => {
    const urn = server.addPost(ME);
    const made = await call('linkedin_create_comment', { post_urn: urn, text: 'n0' });
    expect(made).toMatchObject({ urn: expect.stringContaining(urn) });
    expect(server.received.at(-1)?.raw).toBe(
      JSON.stringify({ actor: ME, object: urn, message: { text: 'n0' } }),
    );
    for (let count = 1; count < 5; count += 1)
      server.comments.push({ post: urn, actor: ME, text: `n${count}` });
    const found = await all<{ text: string }>('linkedin_list_comments', { post_urn: urn, limit: 2 });
    expect(found.map(({ text }) => text)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
    expect(found[0]).toMatchObject({ author_urn: ME, created_at: '2025-11-01T12:26:40.000Z' });
  });

  it('reads comments whose moment is none, and keeps what it cannot name', async () => {
    const json = { elements: [{ id: '1', created: { time: 9e15 }, message: { text: 'late' } }] };
    server.failNext({ kind: 'reply', reply: { json } });
    expect(await call('linkedin_list_comments', { post_urn: postUrn })).toMatchObject({
      items: [{ text: 'late', created_at: null }],
    });
    server.failNext({ kind: 'reply', reply: { status: 201 } }, ({ method }) => method === 'POST');
    await expect(call('linkedin_create_post', { text: 'made' })).rejects.toMatchObject({
      ...{ code: 'platform_unavailable', outcomeOpen: true },
    });
  });

  it('[TH-5.9] says what is wrong with which field, and LinkedIn’s own word for it', async () => {
    const refused = (json: object) =>
      server.failNext({ kind: 'reply', reply: { status: 422, json } }, ({ method }) => method === 'POST');
    const fault = { description: 'Duplicate post is detected', input: {}, code: 'DUPLICATE_POST' };
    const message = 'Content is a duplicate of urn:li:share:7295588489876647936';
    refused({ message, errorDetails: { inputErrors: [fault] }, status: 422 });
    await expect(call('linkedin_create_post', { text: 'again' })).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: 'DUPLICATE_POST' },
      message: `LinkedIn refused: ${message}: Duplicate post is detected`,
    });
    const inputErrors = [
      { description: 'wrong type', input: { inputPath: { fieldPath: 'content' } }, code: 'PARAM_INVALID' },
    ];
    refused({ message: 'Invalid param. Please see errorDetails.', errorDetails: { inputErrors } });
    await expect(call('linkedin_create_post', { text: 'again' })).rejects.toThrow(/content: wrong type$/);
  });

  it('writes every mark of LinkedIn’s own format as itself', () => {
    expect(littleText('a_b @c <d> {e|f} \\ *g* ~ # h')).toBe(
      'a\\_b \\@c \\<d\\> \\{e\\|f\\} \\\\ \\*g\\* \\~ \\# h',
    );
    expect(littleText('#snake_case ok')).toBe('{hashtag|\\#|snake\\_case} ok');
  });
});

describe('the account', () => {
  it('is checked, named and probed', async () => {
    expect(await connector.verify(context())).toEqual({ kind: 'accepted', account: 'Ada Lovelace' });
    const wrong = context({ credential: { access_token: 'wrong' } });
    expect(await connector.verify(wrong)).toMatchObject({ kind: 'rejected' });
    expect(await connector.health(context())).toEqual({
      status: 'ok',
      message: null,
      account: 'Ada Lovelace',
    });
    expect(await connector.health(wrong)).toMatchObject({ status: 'token_expired' });
  });

  tryRenewal({
    ...{ connector, context, now: NOW, path: '/oauth/v2/accessToken' },
    ...{ server: () => server, endpoint: () => server.endpoint },
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    samples: {
      linkedin_get_profile: () => ({}),
      linkedin_list_comments: () => ({ post_urn: postUrn }),
      linkedin_create_post: () => ({ text: 'hello' }),
      linkedin_create_comment: () => ({ post_urn: postUrn, text: 'hello' }),
      linkedin_delete_post: () => ({ post_urn: server.addPost(ME) }),
    },
    tokenRefusal: {
      status: 401,
      json: { status: 401, serviceErrorCode: 65_601, message: `${TOKEN} was revoked` },
    },
    slowDown: {
      reply: {
        ...{ status: 429, headers: { 'retry-after': '17' } },
        json: { status: 429, message: 'Resource level throttle APPLICATION_AND_MEMBER DAY limit reached' },
      },
      seconds: 17,
    },
    meanings: [
      [{ status: 401, json: { serviceErrorCode: 100 } }, { code: 'token_expired' }],
      [
        { status: 429, json: { serviceErrorCode: 100 } },
        { code: 'rate_limited', retryAfterSeconds: 30 },
      ],
      // At noon: until midnight.
      [
        {
          status: 429,
          json: {
            ...{ status: 429, serviceErrorCode: 101 },
            message: 'Resource level throttle APPLICATION DAY limit for calls to this resource is reached.',
          },
        },
        { code: 'rate_limited', retryAfterSeconds: 12 * 60 * 60 },
      ],
      [{ status: 500, json: { serviceErrorCode: 100 } }, { code: 'platform_unavailable' }],
      [{ status: 302, json: { serviceErrorCode: 100 } }, { code: 'platform_unavailable' }],
      [{ status: 400, json: { serviceErrorCode: 0, message: 'x' } }, { platformCode: '400' }],
      [{ status: 422, json: { code: 'VALIDATION_FAILED' } }, { platformCode: 'VALIDATION_FAILED' }],
    ],
    refusal: {
      reply: {
        status: 403,
        json: { status: 403, serviceErrorCode: 100, message: `Not enough permissions ${TOKEN}` },
      },
      code: '100',
    },
    secrets: [TOKEN],
  });
});
