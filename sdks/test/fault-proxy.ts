// Stands between an SDK and the real service, and does what networks do: cuts, delays, halves and refuses.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type Fault =
  /** Nothing reaches the service. */
  | 'cut_before'
  /** The service has done it; the answer is lost. */
  | 'cut_after'
  /** The answer comes later than any client waits. */
  | 'slow'
  /** The headers and half of the body. */
  | 'half_body'
  /** Half of the body, with nothing to tell that it is half. */
  | 'half_body_unmarked'
  | '408'
  | '409'
  | '429'
  | '503'
  /** The service has done it, and a proxy says 502 in HTML. */
  | '502_after';

export interface FaultProxy {
  url: string;
  /** What happens to the next requests, one each; after that everything passes. */
  plan(faults: readonly Fault[]): void;
  /** The requests seen since the last plan. */
  seen: { method: string; path: string; idempotencyKey: string | undefined; body: string }[];
  close(): Promise<void>;
}

const SLOW_MS = 30_000;

const refusals: Partial<Record<Fault, { code: string; headers?: Record<string, string> }>> = {
  '408': { code: 'request_timeout' },
  '409': { code: 'idempotency_key_in_use', headers: { 'retry-after': '0' } },
  '429': { code: 'rate_limited', headers: { 'retry-after': '0' } },
  '503': { code: 'shutting_down' },
};

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let faults: Fault[] = [];
  const seen: FaultProxy['seen'] = [];
  const timers = new Set<NodeJS.Timeout>();

  const server = http.createServer(async (request, response) => {
    const body = await readAll(request);
    seen.push({
      method: request.method ?? '',
      path: request.url ?? '',
      idempotencyKey: request.headers['idempotency-key'] as string | undefined,
      body: body.toString('utf8'),
    });
    const fault = faults.shift();
    if (fault === 'cut_before') return request.socket.destroy();
    const refusal = fault && refusals[fault];
    if (refusal) return refuse(response, Number(fault), refusal);
    const answer = await forward(target, request, body, response);
    if (answer === 'streamed') return;
    if (fault === 'cut_after') return request.socket.destroy();
    if (fault === 'slow') {
      const timer = setTimeout(() => response.end(), SLOW_MS);
      timers.add(timer);
      return;
    }
    if (fault === '502_after') {
      return response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    }
    if (fault === 'half_body') {
      response.writeHead(answer.status, answer.headers);
      response.write(answer.body.subarray(0, answer.body.length >> 1), () => request.socket.destroy());
      return;
    }
    if (fault === 'half_body_unmarked') {
      const type = answer.headers['content-type'] ?? '';
      const head = `HTTP/1.1 ${answer.status} OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`;
      request.socket.end(
        Buffer.concat([Buffer.from(head), answer.body.subarray(0, answer.body.length >> 1)]),
      );
      return;
    }
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plan(next) {
      faults = [...next];
      seen.length = 0;
    },
    seen,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function refuse(
  response: http.ServerResponse,
  status: number,
  { code, headers }: { code: string; headers?: Record<string, string> },
): void {
  const problem = {
    type: `/docs/errors#${code}`,
    title: code,
    status,
    detail: code,
    code,
    request_id: 'req_proxy',
  };
  response
    .writeHead(status, { 'content-type': 'application/problem+json', ...headers })
    .end(JSON.stringify(problem));
}

/** An event stream has no end to wait for: it is passed on as it comes. */
function forward(
  target: string,
  request: http.IncomingMessage,
  body: Buffer,
  response: http.ServerResponse,
): Promise<Answer | 'streamed'> {
  return new Promise((resolve, reject) => {
    const options = { method: request.method ?? 'GET', headers: request.headers, agent: false };
    const onward = http.request(`${target}${request.url}`, options, async (answer) => {
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.on('error', () => response.destroy());
        response.once('close', () => onward.destroy());
        resolve('streamed');
        return;
      }
      const { 'transfer-encoding': _chunked, connection: _connection, ...headers } = answer.headers;
      const all = await readAll(answer);
      resolve({
        status: answer.statusCode ?? 502,
        headers: answer.statusCode === 204 ? headers : { ...headers, 'content-length': String(all.length) },
        body: all,
      });
    });
    onward.on('error', reject);
    onward.end(body);
  });
}
