import type { Handler } from '@libs/jobs';
import { createAskHandler } from './worker-ask.ts';
import type { RtpWorkerDependencies } from './worker-context.ts';
import { createReadHandler } from './worker-read.ts';
import { createSendHandler } from './worker-send.ts';

export type { RtpWorkerDependencies } from './worker-context.ts';
export { readReceived } from './worker-read.ts';

/** What the rail does after the commit: it sends, reads what comes back, and asks after what does not. */
export function createRtpHandlers(deps: RtpWorkerDependencies): Handler[] {
  return [createSendHandler(deps), createReadHandler(deps), createAskHandler(deps)];
}
