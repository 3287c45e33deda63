import { cursorCodec, listQuery, objectListSchema } from '@libs/http';
import Type, { type Static } from 'typebox';
import { nullable, Timestamp } from '../api-schema.ts';
import { errors } from '../errors.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { RequestLog, RequestLogBodies } from './request-log.ts';
import type { RequestLogs } from './service.ts';
import { TENANT_PER_SECOND } from './shares.ts';

const cursor = cursorCodec(Type.Tuple([Type.String({ format: 'date' }), Type.String({ maxLength: 64 })]));

const logExample = {
  id: 'log_01jcrzq4c8kq2v0n5sxt2bhm6g',
  object: 'request_log' as const,
  created_at: '2026-11-15T15:04:05.000Z',
  request_id: 'req_kq3f8ZpW0n5sVxT200001',
  key_id: 'key_01jcrzq4c8kq2v0n5sxt2bhm6g',
  user_id: null,
  method: 'POST',
  path: '/v1/payments',
  query: null,
  status: 202,
  duration_ms: 7,
  ip: '203.0.113.7',
  api_version: '2026-11-15',
  idempotency_key: 'order-1001',
};

const logFields = {
  id: Type.String(),
  object: Type.Literal('request_log'),
  created_at: Timestamp,
  request_id: Type.String({ description: 'What the answer had as `x-request-id`.' }),
  key_id: nullable(Type.String({ description: 'The key that called.' })),
  user_id: nullable(Type.String({ description: 'The person who called, at the dashboard.' })),
  method: Type.String(),
  path: Type.String(),
  query: nullable(Type.String({ description: 'What followed the `?` of the address.' })),
  status: Type.Integer(),
  duration_ms: Type.Integer({ description: 'Until the answer left.' }),
  ip: Type.String(),
  api_version: Type.String({ description: 'The one that was asked for, or the newest.' }),
  idempotency_key: nullable(Type.String()),
};

const LogSchema = Type.Object(logFields, { title: 'RequestLog', examples: [logExample] });

const body = (what: string) =>
  Type.Unknown({
    description: `${what}, without account numbers, names and secrets; null where there was none, or it was too long to be kept.`,
  });
const LogDetailSchema = Type.Object(
  {
    ...logFields,
    request_body: body('What was sent'),
    request_bytes: Type.Integer({ description: 'How long it was.' }),
    response_body: body('What was answered'),
    response_bytes: Type.Integer({ description: 'How long it was.' }),
  },
  {
    title: 'RequestLogDetail',
    examples: [
      {
        ...logExample,
        request_body: { amount: 2500, currency: 'USD' },
        request_bytes: 34,
        response_body: { id: 'pay_01jcrzq4c8kq2v0n5sxt2bhm6g', status: 'pending' },
        response_bytes: 61,
      },
    ],
  },
);

const LogListSchema = Type.Object(
  {
    ...objectListSchema(LogSchema).properties,
    left_out: Type.Integer({
      description: `Calls of the kept days that are not in the log: of each second the first ${TENANT_PER_SECOND} are kept, and as many that were refused or failed.`,
    }),
    kept_days: Type.Integer({ description: 'For how many days calls are kept; 0: this server keeps none.' }),
  },
  { title: 'RequestLogList' },
);

const filters = {
  status: Type.Optional(
    Type.String({
      pattern: '^[1-5](\\d\\d|xx)$',
      description: 'One status, or a class of them such as `4xx`.',
    }),
  ),
  method: Type.Optional(Type.String({ pattern: '^[A-Z]{3,7}$' })),
  path: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: 'How the path begins.' })),
  key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The id of a key, or of a person.' }),
  ),
  request_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
};

function logToApi(log: RequestLog): Static<typeof LogSchema> {
  return {
    id: log.id,
    object: 'request_log',
    created_at: log.at.toISOString(),
    request_id: log.requestId,
    key_id: log.keyId,
    user_id: log.userId,
    method: log.method,
    path: log.path,
    query: log.query,
    status: log.status,
    duration_ms: log.durationMs,
    ip: log.ip,
    api_version: log.apiVersion,
    idempotency_key: log.idempotencyKey,
  };
}

function detailToApi(log: RequestLog & RequestLogBodies): Static<typeof LogDetailSchema> {
  return {
    ...logToApi(log),
    request_body: log.requestBody === null ? null : JSON.parse(log.requestBody),
    request_bytes: log.requestBytes,
    response_body: log.responseBody === null ? null : JSON.parse(log.responseBody),
    response_bytes: log.responseBytes,
  };
}

function statusRange(status = '100-599'): { statusMin: number; statusMax: number } {
  if (status.endsWith('xx')) {
    const statusMin = Number(status[0]) * 100;
    return { statusMin, statusMax: statusMin + 99 };
  }
  const [statusMin = 0, statusMax = statusMin] = status.split('-').map(Number);
  return { statusMin, statusMax };
}

export function registerRequestLogRoutes(
  routes: PaymentsRoutes,
  { logs }: { logs: Pick<RequestLogs, 'list' | 'find'> },
): void {
  const decided = { access: 'viewer', rate: 'key', audit: 'none', idempotency: 'safe' } as const;
  routes.get(
    '/v1/request_logs',
    {
      ...decided,
      schema: {
        operationId: 'request_logs.list',
        tags: ['Keys'],
        summary: 'List calls of the last days',
        description:
          'What your keys called and what people changed, newest first. A page looks through 5,000 calls at most, so it can be short, or empty, and still have a next one.',
        querystring: listQuery(filters),
        response: { 200: LogListSchema },
      },
    },
    async ({ query, caller }) => {
      const place = cursor.decode(query.cursor);
      const found = await logs.list(caller.tenant.id, {
        before: place === undefined ? null : { day: place[0], id: place[1] },
        filters: {
          ...statusRange(query.status),
          method: query.method ?? null,
          path: query.path ?? null,
          keyId: query.key ?? null,
          requestId: query.request_id ?? null,
        },
        limit: query.limit,
      });
      return {
        object: 'list' as const,
        data: found.logs.map(logToApi),
        next_cursor: found.next === null ? null : cursor.encode([found.next.day, found.next.id]),
        left_out: found.leftOut,
        kept_days: found.keptDays,
      };
    },
  );

  routes.get(
    '/v1/request_logs/:id',
    {
      ...decided,
      schema: {
        operationId: 'request_logs.get',
        tags: ['Keys'],
        summary: 'Read a call of the last days',
        description: 'With what was sent and answered, without account numbers, names and secrets.',
        params: Type.Object({ id: Type.String() }),
        response: { 200: LogDetailSchema },
      },
    },
    async ({ params, caller }) => {
      const log = await logs.find(caller.tenant.id, params.id);
      if (log === undefined) throw errors.not_found();
      return detailToApi(log);
    },
  );
}
