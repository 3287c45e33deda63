import type { ToolContext } from '../connectors/connector.ts';
import type { InternalSession, Session } from '../customers/identity.ts';
import type { ToolList } from '../tools/lists.ts';

export type CallSession = Session | InternalSession;
export type Progress = ToolContext['progress'];

export interface CallRequest {
  session: CallSession;
  /** What this session sees; a tool that is not in it does not exist for the call. */
  list: ToolList;
  name: string;
  args: Record<string, unknown>;
  /** Pointers of texts in the arguments that no storage takes; found while the body was parsed. */
  badText: readonly { pointer: string; code: string; detail: string }[];
  signal: AbortSignal;
  progress: Progress;
  /** What stands for the caller's idempotency_key at the vendor: it tells nothing of customer or key. */
  vendorKey?: string;
  ip: string;
  requestId: string;
}

/** Keys of internal sessions must not meet each other's, nor a customer's. */
export function principalOf(session: CallSession): string {
  return session.kind === 'customer' ? session.customerId : `internal:${session.name}`;
}
