import { hash, timingSafeEqual } from 'node:crypto';
import { baseErrors, type Drain, type Metrics } from '@libs/runtime';
import type { App } from '../app-type.ts';

const READINESS_TIMEOUT_MS = 5_000;

/** Numbers tell a stranger how much business there is, so in production they are closed or need a token. */
export type MetricsAccess = 'open' | 'closed' | { readonly token: string };

/** Alive, ready, measured. All three answer while the server drains. */
export function registerHealth(
  app: App,
  parts: {
    drain: Drain;
    metrics: Metrics;
    readiness: () => Promise<void>;
    metricsAccess: MetricsAccess;
  },
): void {
  const hidden = { schema: { hide: true }, config: { whileDraining: true } };
  app.get('/healthz', hidden, async () => ({ status: 'ok' }));
  app.get('/readyz', hidden, async () => {
    if (!parts.drain.isLeaving) {
      try {
        await within(parts.readiness(), READINESS_TIMEOUT_MS);
      } catch (error) {
        throw baseErrors.not_ready({ cause: error, retryAfterSeconds: 1 });
      }
    }
    parts.drain.noteReadiness();
    if (parts.drain.isLeaving) throw baseErrors.not_ready({ detail: 'This server is stopping.' });
    return { status: 'ok' };
  });
  app.get('/metrics', hidden, async (request, reply) => {
    checkMetricsAccess(parts.metricsAccess, request.headers.authorization);
    reply.header('content-type', parts.metrics.contentType);
    return parts.metrics.metrics();
  });
}

function checkMetricsAccess(access: MetricsAccess, authorization: string | undefined): void {
  if (access === 'open') return;
  if (access === 'closed') throw baseErrors.not_found();
  const token = /^Bearer +([!-~]+)$/i.exec(authorization ?? '')?.[1] ?? '';
  // Digests have one length, so the comparison tells nothing of the token, its length included.
  if (!timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', access.token, 'buffer')))
    throw baseErrors.metrics_token_required({ headers: { 'www-authenticate': 'Bearer' } });
}

async function within(work: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
