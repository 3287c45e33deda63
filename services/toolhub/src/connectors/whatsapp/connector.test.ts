import { Check } from 'typebox/value';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ToolContext } from '../connector.ts';
import { closeTestContexts, testContext } from '../test/tool-runner.ts';
import { createWhatsappConnector } from './connector.ts';
import { type GraphServer, graphError, startGraph } from './test/graph-server.ts';

const TOKEN = 'EAAGtokenOfTheTests';
const NUMBER = '106540352242922';
const connector = createWhatsappConnector();
const credential = { access_token: TOKEN, phone_number_id: NUMBER, business_account_id: '102290129340398' };
let graph: GraphServer;

beforeAll(async () => {
  graph = await startGraph();
  graph.addNumber({ id: NUMBER, display: '+1 631-555-5555', tokens: [TOKEN, 'EAAGexpired'] });
  graph.revoke('EAAGexpired');
});
beforeEach(() => {
  graph.calls.length = 0;
});
afterAll(async () => {
  await closeTestContexts();
  await graph.stop();
});

function context(changes: Partial<typeof credential> = {}, signal?: AbortSignal): ToolContext {
  return testContext({
    platform: 'whatsapp',
    credential: { ...credential, ...changes },
    allow: [new URL(graph.url).host],
    baseUrl: graph.url,
    ...(signal ? { signal } : {}),
  });
}

describe('the credential', () => {
  it('has three parts and no character that could change an address or a header', () => {
    const { credentialSchema } = connector.auth;
    expect(Check(credentialSchema, credential)).toBe(true);
    for (const bad of [
      { ...credential, more: 1 },
      { ...credential, access_token: '' },
      { ...credential, access_token: 'a b' },
      { ...credential, access_token: 'a\r\nx: y' },
      { ...credential, phone_number_id: '../me' },
      { ...credential, phone_number_id: '1?fields=x' },
      { ...credential, phone_number_id: 106 },
      { ...credential, business_account_id: '' },
      { access_token: TOKEN, phone_number_id: NUMBER },
    ])
      expect(Check(credentialSchema, bad)).toBe(false);
  });

  it('is accepted where WhatsApp shows the number to the token, which is not in the address', async () => {
    expect(await connector.verify(context())).toEqual({ kind: 'accepted', account: '+1 631-555-5555' });
    expect(graph.calls.map(decodeURIComponent)).toEqual([
      `/${NUMBER}?fields=id,display_phone_number,verified_name`,
    ]);
  });

  it('is rejected for another’s number, an unknown token, an expired one, and an alias', async () => {
    graph.addNumber({ id: '999', display: '+1 999', tokens: ['EAAGofSomebodyElse'] });
    const outcomes = [
      await connector.verify(context({ phone_number_id: '999' })),
      await connector.verify(context({ access_token: 'EAAGunknown' })),
      await connector.verify(context({ access_token: 'EAAGexpired' })),
      await connector.verify(context({ phone_number_id: 'me' })),
    ];
    expect(outcomes).toEqual([
      { kind: 'rejected', reason: expect.stringMatching(/^WhatsApp refused: Unsupported get request/) },
      { kind: 'rejected', reason: 'WhatsApp does not accept the access token' },
      { kind: 'rejected', reason: 'WhatsApp does not accept the access token' },
      { kind: 'rejected', reason: 'WhatsApp knows no phone number of this id' },
    ]);
    expect(JSON.stringify(outcomes)).not.toContain('EAAG');
  });

  it('is not judged while WhatsApp cannot be asked', async () => {
    const outcomes = [
      [{ kind: 'status', status: 502 }, 'platform_unavailable'],
      [{ kind: 'text', text: '{"id":' }, 'platform_unavailable'],
      [{ kind: 'text', text: '[]' }, 'platform_unavailable'],
      [{ kind: 'drop' }, 'platform_unavailable'],
      [
        { kind: 'error', status: 400, error: graphError(2, 'Service temporarily unavailable') },
        'platform_unavailable',
      ],
      [{ kind: 'error', status: 400, error: graphError(130429, 'Rate limit hit') }, 'rate_limited'],
      [{ kind: 'error', status: 400, error: graphError(80007, 'Too many calls') }, 'rate_limited'],
      [{ kind: 'error', status: 400, error: graphError(80008, 'Too many calls') }, 'rate_limited'],
      [{ kind: 'error', status: 400, error: graphError(341, 'Limit reached') }, 'rate_limited'],
      [{ kind: 'error', status: 429, error: graphError(131056, 'Pair rate limit hit') }, 'rate_limited'],
    ] as const;
    for (const [failure, code] of outcomes) {
      graph.failNext(failure);
      await expect(connector.verify(context())).rejects.toMatchObject({ name: 'ConnectorError', code });
    }
    graph.failNext({ kind: 'silent' });
    const asked = graph.calls.length;
    const patience = new AbortController();
    const verifying = expect(connector.verify(context({}, patience.signal))).rejects.toThrow();
    await expect.poll(() => graph.calls.length).toBe(asked + 1);
    patience.abort();
    await verifying;
  });

  it('names how long to wait, and the platform’s own code and details without the token', async () => {
    const slow = graphError(4, 'Application request limit reached');
    graph.failNext({ kind: 'error', status: 400, error: slow, headers: { 'retry-after': '7' } });
    await expect(connector.verify(context())).rejects.toMatchObject({ retryAfterSeconds: 7 });
    const details = `Not possible with ${TOKEN}.`;
    graph.failNext({
      ...{ kind: 'error', status: 400 },
      error: graphError(131031, 'Account locked', { error_data: { details } }),
    });
    expect(await connector.verify(context())).toEqual({
      kind: 'rejected',
      reason: 'WhatsApp refused: Not possible with ….',
    });
  });
});

describe('health', () => {
  it('tells a token that is no more accepted from a platform that is slow or away', async () => {
    expect(await connector.health(context())).toMatchObject({ status: 'ok', message: null });
    expect(await connector.health(context({ access_token: 'EAAGexpired' }))).toMatchObject({
      status: 'token_expired',
    });
    graph.failNext({ kind: 'error', status: 400, error: graphError(130429, 'Rate limit hit') });
    expect(await connector.health(context())).toMatchObject({ status: 'degraded' });
    graph.failNext({ kind: 'status', status: 503 });
    expect(await connector.health(context())).toMatchObject({ status: 'down' });
  });
});
