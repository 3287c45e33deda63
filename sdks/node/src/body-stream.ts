import { ConnectionFailedError, PaymentsError } from './errors.ts';

/** A body that says nothing for so long is taken for dead. */
const SILENCE_MS_MAX = 60_000;

/**
 * The pieces of a body as they arrive. Whoever stops reading hangs up. Where it breaks off, `cut` says so; here alone, since
 * an error of anything else around the reading is no cut line.
 */
export async function* untilSilent(
  response: Response,
  cut: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    while (true) {
      const { done, value } = await inTime(reader.read()).catch((cause) => {
        throw toFailure(cause, cut);
      });
      if (done) return;
      yield value;
    }
  } finally {
    // The answer's own failure has been reported already.
    await reader.cancel().catch(() => undefined);
  }
}

function toFailure(cause: unknown, cut: string): PaymentsError {
  if (cause instanceof PaymentsError) return cause;
  return new ConnectionFailedError(cut, { code: 'connection_failed', retryable: true, cause });
}

async function inTime<Value>(reading: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new ConnectionFailedError('The stream fell silent.', { code: 'timeout', retryable: true }));
    }, SILENCE_MS_MAX);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    clearTimeout(timer);
  }
}
