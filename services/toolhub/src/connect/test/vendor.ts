import { hash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type TokenBehaviour =
  | 'works'
  | 'fails'
  | 'slows down'
  | 'hangs'
  | 'is huge'
  | 'is no JSON'
  | 'is a list'
  | 'redirects'
  | 'has no token'
  | 'has no identity'
  | 'refuses'
  | 'refuses with 200';

/** An authorization server as vendors run them: codes work once, for the client, address and verifier they were made for. */
export interface Vendor {
  url: string;
  clientId: string;
  clientSecret: string;
  /** The addresses that the operator registered there, compared as written. */
  redirectUris: string[];
  /** Whose mailbox the person gives away. */
  email: string;
  decision: 'allow' | 'access_denied' | 'server_error';
  token: TokenBehaviour;
  accessToken: string;
  /** Forms that the token endpoint was sent. */
  exchanges: Record<string, string>[];
  /** Told of every access token that is given out. */
  onIssue: (accessToken: string) => void;
  /** How much of an endless answer was taken. */
  pouredBytes: number;
  authorizations: (string | undefined)[];
  stop(): Promise<void>;
}

interface Code {
  redirectUri: string;
  challenge: string;
}

export const HUGE_BYTES = 64 * 1024 * 1024;

export async function startVendor(): Promise<Vendor> {
  const codes = new Map<string, Code>();
  /** Each works once. */
  const refreshTokens = new Set<string>();
  const vendor: Vendor = {
    ...{ url: '', clientId: 'toolhub at vendor', clientSecret: 'hush: a&b', redirectUris: [] },
    ...{ email: 'bob@mail.test', decision: 'allow', token: 'works', accessToken: 'vendor-access-1' },
    ...{ exchanges: [], authorizations: [], pouredBytes: 0, onIssue: () => {} },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };

  function authorize(url: URL, response: ServerResponse): void {
    const query = Object.fromEntries(url.searchParams);
    const isInOrder =
      query.client_id === vendor.clientId &&
      vendor.redirectUris.includes(query.redirect_uri ?? '') &&
      query.response_type === 'code' &&
      query.code_challenge_method === 'S256' &&
      /^[\w-]{43}$/.test(query.code_challenge ?? '');
    if (!isInOrder) return void response.writeHead(400).end('not a request of a known client');
    const back = new URL(query.redirect_uri ?? '');
    back.searchParams.set('state', query.state ?? '');
    if (vendor.decision === 'allow') {
      const code = randomUUID();
      codes.set(code, { redirectUri: query.redirect_uri ?? '', challenge: query.code_challenge ?? '' });
      back.searchParams.set('code', code);
      // Vendors add what they like.
      back.searchParams.set('authuser', '0');
    } else back.searchParams.set('error', vendor.decision);
    response.writeHead(302, { location: back.href }).end();
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = Object.fromEntries(new URLSearchParams(await textOf(request)));
    vendor.exchanges.push(form);
    vendor.authorizations.push(request.headers.authorization);
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (vendor.token !== 'works') return void misbehave(vendor, response, send);
    const isGood = form.grant_type === 'refresh_token' ? renews(form) : redeems(form);
    if (!isGood) return void send(400, { error: 'invalid_grant' });
    if (!isClient(form, request.headers.authorization)) return void send(401, { error: 'invalid_client' });
    const issued = tokensFor(vendor);
    refreshTokens.add(String(issued.refresh_token));
    vendor.onIssue(vendor.accessToken);
    send(200, issued);
  }

  function renews(form: Record<string, string>): boolean {
    const isGood = refreshTokens.delete(form.refresh_token ?? '');
    if (isGood) vendor.accessToken = `renewed-${randomUUID()}`;
    return isGood;
  }

  function redeems(form: Record<string, string>): boolean {
    const code = codes.get(form.code ?? '');
    codes.delete(form.code ?? '');
    return (
      form.grant_type === 'authorization_code' &&
      code?.redirectUri === form.redirect_uri &&
      code?.challenge === hash('sha256', form.code_verifier ?? '', 'base64url')
    );
  }

  function isClient(form: Record<string, string>, authorization: string | undefined): boolean {
    if (authorization === undefined)
      return form.client_id === vendor.clientId && form.client_secret === vendor.clientSecret;
    const pair = `${encodeURIComponent(vendor.clientId)}:${encodeURIComponent(vendor.clientSecret)}`;
    return authorization === `Basic ${Buffer.from(pair).toString('base64')}` && form.client_id === undefined;
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', vendor.url);
    if (request.method === 'GET' && url.pathname === '/authorize') authorize(url, response);
    else if (request.method === 'POST' && url.pathname === '/token') void token(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  vendor.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return vendor;
}

function tokensFor({ clientId, email, accessToken }: Vendor): Record<string, unknown> {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const id_token = [part({ alg: 'RS256' }), part({ aud: clientId, email }), 'signature'].join('.');
  const refresh_token = `refresh-of-${accessToken}`;
  return { access_token: accessToken, refresh_token, id_token, token_type: 'Bearer', expires_in: 3_600 };
}

function misbehave(
  vendor: Vendor,
  response: ServerResponse,
  send: (status: number, body: unknown) => void,
): void {
  if (vendor.token === 'fails') send(500, { error: 'server_error' });
  else if (vendor.token === 'slows down') send(429, { error: 'slow_down' });
  else if (vendor.token === 'is no JSON') response.end('<html>');
  else if (vendor.token === 'is a list') send(200, []);
  else if (vendor.token === 'redirects') response.writeHead(302, { location: `${vendor.url}/token` }).end();
  else if (vendor.token === 'has no token') send(200, { ...tokensFor(vendor), access_token: undefined });
  else if (vendor.token === 'has no identity') send(200, { ...tokensFor(vendor), id_token: 'e30.e30.e30' });
  else if (vendor.token === 'refuses')
    send(400, { error: 'invalid_grant', error_description: 'secret words' });
  else if (vendor.token === 'refuses with 200') send(200, { ok: false, error: 'invalid_code' });
  else if (vendor.token === 'is huge') pour(vendor, response);
  // What is left is to hang: the request is never answered.
}

function pour(vendor: Vendor, response: ServerResponse): void {
  const chunk = Buffer.alloc(256 * 1024, 0x20);
  vendor.pouredBytes = 0;
  const more = () => {
    while (vendor.pouredBytes < HUGE_BYTES && !response.destroyed) {
      vendor.pouredBytes += chunk.length;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
