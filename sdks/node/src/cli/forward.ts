import type { Event } from '../event-types.ts';
import { localFetch } from '../local-fetch.ts';
import { sleep } from '../request.ts';
import { webhooks } from '../webhooks.ts';
import { UsageError } from './command.ts';

const TIMEOUT_MS = 15_000;
/** A receiver that is just being restarted is given these moments to come back. */
const PAUSES_MS = [250, 1_000, 2_000, 4_000] as const;

/** A port of this machine, with what stands behind it. */
const PORT = /^:?(\d+)([/?].*)?$/s;

/** `3000`, `:3000/hooks`, `localhost:3000/hooks` and whole addresses. */
export function readTarget(text: string): string {
  const [, port, path = ''] = PORT.exec(text) ?? [];
  const typed = port === undefined ? text : `localhost:${port}${path}`;
  const url = readUrl(/^[a-z][a-z\d+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`);
  // A path by itself would be read as the name of a server.
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol) && !typed.startsWith('/');
  if (isAddress && url.username === '' && url.password === '') return url.href;
  throw new UsageError('--forward-to must be an address such as http://localhost:3000/webhooks');
}

function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The body of a webhook, as the service itself would send it. */
function webhookBody({ id, type, timestamp, mode, data }: Event): string {
  return JSON.stringify({ id, type, timestamp, mode, data });
}

/** Posts the event as a signed webhook; answers in a few words what came of it. */
export async function forward(
  event: Event,
  target: string,
  secret: string,
  signal: AbortSignal,
): Promise<{ delivered: boolean; outcome: string }> {
  const body = webhookBody(event);
  for (let tries = 0; ; tries += 1) {
    const startedMs = performance.now();
    const patience = new AbortController();
    const stop = () => patience.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const timer = setTimeout(() => patience.abort(new DOMException('no answer', 'TimeoutError')), TIMEOUT_MS);
    try {
      const headers = {
        'content-type': 'application/json',
        ...webhooks.sign(body, secret, { id: event.id }),
      };
      const response = await localFetch(target, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: patience.signal,
      });
      await response.body?.cancel();
      return {
        delivered: response.ok,
        outcome: `${response.status} in ${Math.round(performance.now() - startedMs)} ms`,
      };
    } catch (error) {
      const pauseMs = PAUSES_MS[tries];
      if (pauseMs === undefined || signal.aborted)
        return { delivered: false, outcome: `no answer (${reasonOf(error)})` };
      await sleep(pauseMs, signal).catch(() => undefined);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  return name === 'TimeoutError' ? `within ${TIMEOUT_MS / 1_000} s` : (cause?.code ?? 'connection failed');
}
