import type { ServerResponse } from 'node:http';

/** Runs the work with a signal that tells it when the caller goes away before the answer is sent. */
export async function untilHangUp<T>(
  raw: ServerResponse,
  work: (controller: AbortController) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const onClose = () => {
    if (!raw.writableFinished) controller.abort(new DOMException('The client is gone.', 'AbortError'));
  };
  raw.once('close', onClose);
  try {
    return await work(controller);
  } finally {
    raw.off('close', onClose);
  }
}
