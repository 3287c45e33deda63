import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OAuthClient, ToolContext } from '../connector.ts';
import { closeTestContexts, testContext } from '../test/tool-runner.ts';
import { addressesOf, type EmailCredential, isRefreshable, tokenUrlOf } from './credential.ts';
import { MAIL_PROVIDERS } from './providers.ts';
import { refreshEmail } from './refresh.ts';

const NOW = new Date('2026-11-15T10:00:00Z');
let server: Server;
let url: string;
let forms: URLSearchParams[] = [];
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    forms.push(new URLSearchParams(Buffer.concat(chunks).toString()));
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
});
afterAll(async () => {
  await closeTestContexts();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function credential(overrides: Partial<EmailCredential> = {}): EmailCredential {
  const place = (host: string) => ({ host, port: 993, user: 'u', access_token: 'old' });
  return {
    imap: place('imap.example'),
    smtp: place('smtp.example'),
    from: 'u@example.com',
    refresh_token: 'refresh-0',
    expires_at: '2026-11-15T09:00:00Z',
    oauth: { token_url: url, client_id: 'client', scope: 'mail' },
    ...overrides,
  };
}

function refresh(content = credential()) {
  forms = [];
  const allow = [new URL(url).host];
  const context = testContext({ platform: 'email', credential: content, allow, now: () => NOW });
  return refreshEmail(context as ToolContext<EmailCredential>);
}

const reply = (status: number, body: object | string, headers: Record<string, string> = {}) => {
  answer = (response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
};

describe('refreshing e-mail tokens', () => {
  it('replaces both access tokens and takes a rotated refresh token', async () => {
    reply(200, { access_token: 'new', refresh_token: 'refresh-1', expires_in: 3_600, token_type: 'Bearer' });
    expect(await refresh()).toEqual({
      kind: 'refreshed',
      credential: credential({
        imap: { host: 'imap.example', port: 993, user: 'u', access_token: 'new' },
        smtp: { host: 'smtp.example', port: 993, user: 'u', access_token: 'new' },
        refresh_token: 'refresh-1',
        expires_at: '2026-11-15T11:00:00.000Z',
      }),
    });
    expect(Object.fromEntries(forms[0] ?? [])).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'refresh-0',
      client_id: 'client',
      scope: 'mail',
    });
  });

  it('keeps the refresh token and a password that the answer does not replace', async () => {
    reply(200, { access_token: 'new' });
    const smtp = { host: 'smtp.example', port: 465, user: 'u', password: 'p' };
    const outcome = await refresh(credential({ smtp }));
    expect(outcome).toMatchObject({ kind: 'refreshed', credential: { smtp, refresh_token: 'refresh-0' } });
    expect(outcome.kind === 'refreshed' && outcome.credential.expires_at).toBeUndefined();
  });

  it('tells a refusal from a bad moment', async () => {
    for (const [status, error] of [
      [400, 'invalid_grant'],
      [400, 'interaction_required'],
      // Of a client of the customer's own, which nobody else can mend.
      [401, 'invalid_client'],
      [400, 'unauthorized_client'],
      [400, 'invalid_scope'],
      [400, 'unsupported_grant_type'],
    ] as const) {
      reply(status, { error, error_description: 'revoked' });
      expect(await refresh()).toEqual({ kind: 'refused', reason: error });
    }
    reply(429, '', { 'retry-after': '7' });
    await expect(refresh()).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 7 });
    for (const [after, retryAfterSeconds] of [
      [new Date(NOW.getTime() + 90_000).toUTCString(), 90],
      ['1e400', 30],
      ['99999999', 24 * 60 * 60],
    ] as const) {
      reply(429, '', { 'retry-after': after });
      await expect(refresh(), after).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds });
    }
    const passing: [number, object | string][] = [
      [500, 'oops'],
      [503, { error: 'temporarily_unavailable' }],
      [404, '<html>'],
      [400, { message: 'not OAuth' }],
      [400, { error: 'temporarily_unavailable' }],
      [400, { error: 'server_error' }],
      [400, { error: 'slow_down' }],
      [403, { error: 'rate_limit_exceeded' }],
      [200, '{"access_token":'],
      [200, {}],
      [200, { access_token: 'a\r\nb' }],
      [200, { access_token: 7 }],
      [302, ''],
    ];
    for (const [status, body] of passing) {
      reply(status, body);
      await expect(refresh(), `${status} ${JSON.stringify(body)}`).rejects.toMatchObject({
        code: 'platform_unavailable',
      });
    }
  });

  it('asks no address that the guard refuses', async () => {
    const oauth = { client_id: 'client', token_url: 'http://169.254.169.254/token' };
    await expect(refresh(credential({ oauth }))).rejects.toMatchObject({ code: 'address_refused' });
    expect(addressesOf(credential({ oauth })).at(-1)).toEqual({
      pointer: '/oauth/token_url',
      host: '169.254.169.254',
      port: 80,
      isPlain: true,
    });
    expect(
      addressesOf(credential({ oauth: { client_id: 'c', token_url: 'nonsense' } })).at(-1),
    ).toMatchObject({ host: '' });
  });

  it('knows where Gmail and Microsoft 365 renew', async () => {
    const at = (host: string) =>
      credential({ imap: { host, port: 993, user: 'u', access_token: 'a' }, oauth: { client_id: 'c' } });
    expect(tokenUrlOf(at('imap.gmail.com'))).toContain('googleapis.com');
    expect(tokenUrlOf(at('Outlook.Office365.com'))).toContain('microsoftonline.com');
    expect(await refresh(at('imap.example'))).toMatchObject({ kind: 'refused' });
    const { refresh_token: _token, ...without } = credential();
    expect([isRefreshable(credential()), isRefreshable(without)]).toEqual([true, false]);
  });
});

describe('refreshing tokens that were issued to this service', () => {
  const registered: OAuthClient = {
    clientId: 'the operator',
    clientSecret: 'hush',
    authorizeUrl: null,
    tokenUrl: null,
  };

  function refreshWith(client: OAuthClient | null, provider = 'google') {
    forms = [];
    const context = testContext({
      platform: 'email',
      credential: credential({ oauth: { provider } }),
      allow: [new URL(url).host],
      now: () => NOW,
      oauthClient: (id) => (id === 'google' ? client : null),
    });
    return refreshEmail(context as ToolContext<EmailCredential>, MAIL_PROVIDERS);
  }

  it('takes the client from the settings, and nothing of it is in the credential', async () => {
    reply(200, { access_token: 'new', expires_in: 3_600 });
    const outcome = await refreshWith({ ...registered, tokenUrl: url });
    expect(Object.fromEntries(forms[0] ?? [])).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'refresh-0',
      client_id: 'the operator',
      client_secret: 'hush',
    });
    expect(outcome).toMatchObject({ kind: 'refreshed', credential: { oauth: { provider: 'google' } } });
    expect(JSON.stringify(outcome)).not.toMatch(/hush|the operator/);
  });

  it('waits for the operator where the registration is gone: the consent is still good', async () => {
    await expect(refreshWith(null)).rejects.toMatchObject({ code: 'platform_unavailable' });
    await expect(refreshWith(registered, 'elsewhere')).rejects.toMatchObject({
      code: 'platform_unavailable',
    });
    expect(forms).toEqual([]);
  });

  it('gives up no mailbox because the registration is wrong, and every one whose consent is over', async () => {
    const client = { ...registered, tokenUrl: url };
    for (const error of ['invalid_client', 'unauthorized_client', 'temporarily_unavailable']) {
      reply(401, { error });
      await expect(refreshWith(client), error).rejects.toMatchObject({ code: 'platform_unavailable' });
    }
    for (const error of ['invalid_grant', 'interaction_required', 'consent_required', 'login_required']) {
      reply(400, { error });
      expect(await refreshWith(client), error).toMatchObject({ kind: 'refused' });
    }
  });

  it('has no address of a customer in it', () => {
    const pointers = addressesOf(credential({ oauth: { provider: 'google' } })).map(({ pointer }) => pointer);
    expect(pointers).toEqual(['/imap/host', '/smtp/host']);
    expect(isRefreshable(credential({ oauth: { provider: 'google' } }))).toBe(true);
  });
});
