import { ConnectionFailedError } from './errors.ts';

/** A body that says nothing for so long is taken for dead. */
const SILENCE_MS_MAX = 60_000;

/** The pieces of a body as they arrive. Whoever stops reading hangs up. */
export async function* untilSilent(response: Response): AsyncGenerator<Uint8Array, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    while (true) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // The answer's own failure has been reported already.
    await reader.cancel().catch(() => undefined);
  }
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
