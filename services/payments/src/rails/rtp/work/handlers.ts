import type { Handler } from '@libs/jobs';
import { createAskHandler } from '../answers/ask.ts';
import { createReadHandler } from '../answers/read.ts';
import { createSendHandler } from '../sending/send.ts';
import type { RtpWorkerDependencies } from './context.ts';

export type { RtpWorkerDependencies } from './context.ts';

/** What the rail does after the commit: it sends, reads what comes back, and asks after what does not. */
export function createRtpHandlers(deps: RtpWorkerDependencies): Handler[] {
  return [createSendHandler(deps), createReadHandler(deps), createAskHandler(deps)];
}
