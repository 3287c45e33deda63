import { MAYBE_DONE } from './failures.ts';
import { type Failure, failureResult, type ToolResult } from './result.ts';

/** Failures after which, unless its outcome is open, nothing can have happened at the platform: the key may be tried again. */
const harmlessCodes: ReadonlySet<Failure['code']> = new Set([
  'not_connected',
  'token_expired',
  'rate_limited',
  'invalid_arguments',
  'address_refused',
]);

/** What later calls with the same key get; null where the call certainly did nothing, so that the key is free again. */
export function keyedResult(
  failure: Failure | null,
  { result, mayHaveActed, isOpen }: { result: ToolResult; mayHaveActed: boolean; isOpen: boolean },
): string | null {
  if (failure === null || (failure.code === 'platform_error' && !isOpen)) return JSON.stringify(result);
  if (!mayHaveActed || (!isOpen && harmlessCodes.has(failure.code))) return null;
  const said = failure.message.replace(/\.?$/, '.');
  return JSON.stringify(failureResult({ ...failure, message: `${said} ${MAYBE_DONE}` }));
}
