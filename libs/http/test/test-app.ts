import { type AddressInfo, connect } from 'node:net';
import { defineErrors, type FieldError } from '@libs/runtime';
import Type from 'typebox';
import { type App, type AppOptions, createApp, stringMap } from '../src/index.ts';

export const testErrors = defineErrors({
  thing_not_found: { kind: 'not_found', title: 'Thing not found', detail: 'No thing has this id.' },
  thing_refused: { kind: 'refused', title: 'Thing refused', help: 'Ask for another thing.' },
});

const ThingBody = Type.Object(
  {
    amount: Type.Integer({ minimum: 1, maximum: 1_000 }),
    currency: Type.String({ pattern: '^[A-Za-z]{3}$' }),
    source: Type.Object(
      { payment_method_id: Type.String({ minLength: 1 }) },
      { additionalProperties: false },
    ),
    rail: Type.Optional(Type.Union([Type.Literal('auto'), Type.Literal('ach')], { default: 'auto' })),
    metadata: Type.Optional(stringMap({ pairsMax: 3, keyLengthMax: 5, valueLengthMax: 8 })),
  },
  { additionalProperties: false },
);

/** An app with one route of each sort that the tests need. */
export async function createTestApp(options: Partial<AppOptions> = {}): Promise<App> {
  const app = await createApp({
    name: 'things',
    version: '1.2.3',
    publicUrl: 'http://localhost:4999',
    logLevel: 'silent',
    errors: testErrors,
    defaultMetrics: false,
    ...options,
  });
  app.post('/v1/things', { schema: { body: ThingBody } }, async (request, reply) => {
    reply.code(202);
    return request.body;
  });
  app.post(
    '/v1/things/:id/settle',
    {
      schema: { body: Type.Object({ code: Type.Optional(Type.String()) }, { additionalProperties: false }) },
    },
    async (request) => ({ id: (request.params as { id: string }).id, body: request.body }),
  );
  app.post('/v1/things/:id/cancel', async (request) => ({ body: request.body ?? null }));
  app.get('/v1/things/:id', async (request) => {
    const { id } = request.params as { id: string };
    if (id === 'refused') {
      throw testErrors.thing_refused({
        extra: { reasons: ['too big'], status: 200 },
        headers: { 'x-why': 'big' },
      });
    }
    throw testErrors.thing_not_found();
  });
  app.delete('/v1/things/:id', async (_request, reply) => reply.code(204).send());
  app.get(
    '/v1/things',
    {
      schema: {
        querystring: Type.Object(
          {
            limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
            open: Type.Optional(Type.Boolean()),
            tag: Type.Optional(Type.Array(Type.String())),
            ratio: Type.Optional(Type.Number()),
            after: Type.Optional(Type.String({ format: 'date-time' })),
          },
          { additionalProperties: false },
        ),
      },
    },
    async (request) => request.query,
  );
  app.post('/v1/anything', { schema: { body: Type.Unknown() } }, async (request) => ({ got: request.body }));
  app.get('/boom', async () => {
    throw new Error('the database said: password=hunter2 Bearer sk_live_abcdef');
  });
  return app;
}

export type Client = {
  base: string;
  port: number;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  send(path: string, init: RequestInit): Promise<Answer>;
};

export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  /** Typed as a problem, which most tests look into; the others compare the whole. */
  json: {
    type: string;
    status: number;
    detail: string;
    code: string;
    request_id: string;
    errors: FieldError[];
  };
};

export async function startTestApp(app: App): Promise<Client> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(base + path, { redirect: 'manual', ...init });
    const text = await response.text();
    const isJson = text !== '' && (response.headers.get('content-type') ?? '').includes('json');
    const json = (isJson ? JSON.parse(text) : undefined) as Answer['json'];
    return { status: response.status, headers: response.headers, text, json };
  };
  return {
    base,
    port,
    send,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, body, headers = {}) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body:
          typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      }),
  };
}

const RAW_WAIT_MS = 5_000;

/** What the server writes when it gets exactly these bytes, up to so many answers. */
export function sendRaw(port: number, bytes: string | Buffer, answers = 1): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    const timer = setTimeout(() => socket.destroy(), RAW_WAIT_MS);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (countAnswers(received) >= answers) socket.destroy();
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(received);
    });
    socket.on('error', (error) => {
      if (received === '') reject(error);
    });
    socket.write(bytes);
  });
}

function countAnswers(received: string): number {
  let answers = 0;
  for (let rest = received; rest !== ''; answers++) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(rest.slice(0, headEnd));
    const end = headEnd + 4 + Number(length?.[1] ?? 0);
    if (headEnd === -1 || length === null || rest.length < end) break;
    rest = rest.slice(end);
  }
  return answers;
}
