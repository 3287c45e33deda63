export class CallTimeout extends Error {
  override readonly name = 'CallTimeout';
}

/** Ends the wait when the caller cancels or the time is over, also for a connector that does not listen. */
export async function withDeadline<T>(
  callerSignal: AbortSignal,
  timeoutMs: number,
  work: (signal: AbortSignal, timeLeftMs: () => number) => Promise<T>,
): Promise<T> {
  callerSignal.throwIfAborted();
  const endsAtMs = performance.now() + timeoutMs;
  const controller = new AbortController();
  let stop: (reason: unknown) => void = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = (reason) => {
      // First: what the connector throws because of the abort must not win over the reason for it.
      reject(reason);
      controller.abort(reason);
    };
  });
  // The work may win the race and leave this promise without a listener.
  stopped.catch(() => {});
  const onCancel = () => stop(callerSignal.reason);
  const timer = setTimeout(
    () => stop(new CallTimeout(`The platform did not answer within ${timeoutMs / 1000} s.`)),
    timeoutMs,
  );
  callerSignal.addEventListener('abort', onCancel, { once: true });
  try {
    const working = work(controller.signal, () => endsAtMs - performance.now());
    working.catch(() => {});
    return await Promise.race([working, stopped]);
  } finally {
    clearTimeout(timer);
    callerSignal.removeEventListener('abort', onCancel);
  }
}
