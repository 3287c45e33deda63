import type { onSendHookHandler } from 'fastify';
import { apiVersions } from '../api-version.ts';
import { BODY_BYTES_MAX } from './request-log.ts';
import type { RequestLogs } from './service.ts';

type Recorder = Pick<RequestLogs, 'wants' | 'record'>;

/**
 * Notes each call that a key made, and what people changed; their pages read all the time, and nobody looks for that.
 * Strangers have no log. The answer is not held up: under load a call costs two look-ups here.
 */
export function recordRequests(logs: Recorder, now: () => Date): onSendHookHandler {
  return (request, reply, payload, done) => {
    const { caller, person } = request;
    const counts = caller !== null && (person === null || request.method !== 'GET');
    if (counts && logs.wants(caller.tenant.id, reply.statusCode)) {
      const [path = '', query = null] = splitAtQuery(request.url);
      const { headers } = request;
      const key = headers['idempotency-key'];
      const version = headers['api-version'];
      const requestBytes = Number(headers['content-length'] ?? 0);
      const responseBytes = sizeOf(payload);
      const isJson = String(reply.getHeader('content-type') ?? '').includes('json');
      logs.record({
        tenantId: caller.tenant.id,
        at: now(),
        requestId: request.id,
        keyId: person === null ? caller.keyId : null,
        userId: person?.userId ?? null,
        ...{ method: request.method, path, query, status: reply.statusCode },
        durationMs: reply.elapsedTime,
        ip: request.ip,
        apiVersion: typeof version === 'string' ? version : apiVersions[0],
        idempotencyKey: typeof key === 'string' ? key : null,
        // Long ones are let go at once, so that what waits stays small.
        requestBody: requestBytes > BODY_BYTES_MAX ? undefined : request.body,
        requestBytes,
        responseBody: isJson && responseBytes <= BODY_BYTES_MAX ? textOf(payload) : undefined,
        responseBytes,
      });
    }
    done();
  };
}

function splitAtQuery(url: string): [string, string | null] {
  const at = url.indexOf('?');
  return at < 0 ? [url, null] : [url.slice(0, at), url.slice(at + 1)];
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return Buffer.isBuffer(payload) ? payload.length : 0;
}

function textOf(payload: unknown): string | undefined {
  if (typeof payload === 'string') return payload === '' ? undefined : payload;
  return Buffer.isBuffer(payload) && payload.length > 0 ? payload.toString('utf8') : undefined;
}
