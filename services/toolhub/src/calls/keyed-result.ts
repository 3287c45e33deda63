import { MAYBE_DONE } from './failures.ts';
import { type Failure, failureResult, type ToolResult } from './result.ts';

/** What later calls with the same key get; null where the call certainly did nothing, so that the key is free again. */
export function keyedResult(
  failure: Failure | null,
  { result, isOpen }: { result: ToolResult; isOpen: boolean },
): string | null {
  // What is open for the key is open for the unit.
  if (!isOpen) return failure === null || failure.code === 'platform_error' ? JSON.stringify(result) : null;
  if (failure === null) return JSON.stringify(result);
  const said = failure.message.replace(/\.?$/, '.');
  return JSON.stringify(failureResult({ ...failure, message: `${said} ${MAYBE_DONE}` }));
}
