// A server that answers as it is told, for what the real service never does.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

export type Answer = (request: SeenRequest, response: http.ServerResponse) => void;

export interface ScriptedServer {
  url: string;
  seen: SeenRequest[];
  close(): Promise<void>;
}

/** Requests beyond the last answer get the last one again. */
export async function startScriptedServer(...answers: [Answer, ...Answer[]]): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    seen.push(one);
    (answers[Math.min(seen.length, answers.length) - 1] as Answer)(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** For the test that starts it. */
export async function scriptedServer(...answers: [Answer, ...Answer[]]): Promise<ScriptedServer> {
  const server = await startScriptedServer(...answers);
  onTestFinished(() => server.close());
  return server;
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function problem(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  more = {},
): Answer {
  return (_request, response) => {
    const body = {
      type: 'x',
      title: code,
      status,
      detail: `Refused: ${code}.`,
      code,
      request_id: 'req_1',
      ...more,
    };
    response
      .writeHead(status, { 'content-type': 'application/problem+json', 'x-request-id': 'req_1', ...headers })
      .end(JSON.stringify(body));
  };
}

export function text(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
  };
}

export function empty(status: number): Answer {
  return (_request, response) => void response.writeHead(status).end();
}
