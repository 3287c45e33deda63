import { baseErrors, type Drain, type Metrics } from '@libs/runtime';
import type { App } from './app-type.ts';

const READINESS_TIMEOUT_MS = 5_000;

/** Alive, ready, measured. All three answer while the server drains. */
export function registerHealth(
  app: App,
  parts: { drain: Drain; metrics: Metrics; readiness: () => Promise<void> },
): void {
  const hidden = { schema: { hide: true }, config: { whileDraining: true } };
  app.get('/healthz', hidden, async () => ({ status: 'ok' }));
  app.get('/readyz', hidden, async () => {
    if (parts.drain.isDraining) throw baseErrors.not_ready({ detail: 'This server is stopping.' });
    try {
      await within(parts.readiness(), READINESS_TIMEOUT_MS);
    } catch (error) {
      throw baseErrors.not_ready({ cause: error, retryAfterSeconds: 1 });
    }
    return { status: 'ok' };
  });
  app.get('/metrics', hidden, async (_request, reply) => {
    reply.header('content-type', parts.metrics.contentType);
    return parts.metrics.metrics();
  });
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
