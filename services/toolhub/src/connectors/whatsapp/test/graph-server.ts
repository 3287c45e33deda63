import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A Graph API written from https://developers.facebook.com/docs/whatsapp/cloud-api: phone numbers that are shown to the
// tokens of their account, the documented errors, and on demand what goes wrong on the way.

export type GraphFailure =
  | { kind: 'error'; status: number; error: Record<string, unknown>; headers?: Record<string, string> }
  | { kind: 'status'; status: number }
  | { kind: 'text'; text: string }
  | { kind: 'silent' }
  | { kind: 'drop' };

export interface GraphServer {
  url: string;
  /** Paths that were asked for, with their query. */
  calls: string[];
  addNumber(number: { id: string; display: string; tokens: readonly string[] }): void;
  /** The token is of no more use, as after it ran out or was withdrawn. */
  revoke(token: string): void;
  failNext(failure: GraphFailure): void;
  stop(): Promise<void>;
}

interface PhoneNumber {
  display: string;
  tokens: Set<string>;
}

export const graphError = (code: number, message: string, more: Record<string, unknown> = {}) => ({
  ...{ message, type: 'OAuthException', code, fbtrace_id: 'A1b2C3' },
  ...more,
});

function send(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', ...headers });
  response.end(JSON.stringify(body));
}

export async function startGraph(): Promise<GraphServer> {
  const numbers = new Map<string, PhoneNumber>();
  const revoked = new Set<string>();
  const calls: string[] = [];
  const failures: GraphFailure[] = [];

  function fail(failure: GraphFailure, request: IncomingMessage, response: ServerResponse): void {
    if (failure.kind === 'error') send(response, failure.status, { error: failure.error }, failure.headers);
    else if (failure.kind === 'status') response.writeHead(failure.status).end('<html>Sorry</html>');
    else if (failure.kind === 'text') response.end(failure.text);
    else if (failure.kind === 'drop') request.socket.destroy();
  }

  function answer(request: IncomingMessage): { status: number; body: unknown } {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined)
      return { status: 401, body: { error: graphError(104, 'An access token is required') } };
    const isKnown = [...numbers.values()].some(({ tokens }) => tokens.has(token));
    if (!isKnown || revoked.has(token)) {
      const message = isKnown ? 'Session has expired' : `Malformed access token ${token}`;
      return { status: 401, body: { error: graphError(190, message) } };
    }
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://graph');
    const id = decodeURIComponent(pathname.slice(1));
    if (id === 'me') return { status: 200, body: { id: '122100000000000000', name: 'System user' } };
    const number = numbers.get(id);
    if (!number?.tokens.has(token)) {
      const message = `Unsupported get request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation.`;
      return { status: 400, body: { error: graphError(100, message, { error_subcode: 33 }) } };
    }
    const all: Record<string, unknown> = {
      verified_name: "Jasper's Market",
      code_verification_status: 'VERIFIED',
      display_phone_number: number.display,
      quality_rating: 'GREEN',
    };
    const wanted = searchParams.get('fields')?.split(',') ?? Object.keys(all);
    const shown = Object.fromEntries(wanted.flatMap((name) => (name in all ? [[name, all[name]]] : [])));
    return { status: 200, body: { ...shown, id } };
  }

  const server = createServer((request, response) => {
    calls.push(request.url ?? '');
    const failure = failures.shift();
    if (failure !== undefined) return fail(failure, request, response);
    const { status, body } = answer(request);
    send(response, status, body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    addNumber: ({ id, display, tokens }) => void numbers.set(id, { display, tokens: new Set(tokens) }),
    revoke: (token) => void revoked.add(token),
    failNext: (failure) => void failures.push(failure),
    async stop() {
      server.closeAllConnections();
      await new Promise((stopped) => server.close(stopped));
    },
  };
}
