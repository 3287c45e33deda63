import { ConnectorError } from '../connectors/connector.ts';
import { isReadOnly, type PlatformTool } from '../tools/tool.ts';

/**
 * A page of an attachment fits, and any page that people wrote. A result is written out several times, each in one go, and
 * some platforms are servers that anybody may run: what is longer would hold up everybody else.
 */
const RESULT_LENGTH_MAX = 1_536 * 1024;

/** Throws for what a platform sent where it is too long to be passed on. */
export function checkLength(content: Record<string, unknown>, tool: PlatformTool): Record<string, unknown> {
  if (lengthLeft(content, RESULT_LENGTH_MAX) >= 0) return content;
  const said = `${tool.platform} sent more text than one result may hold (${RESULT_LENGTH_MAX} characters)`;
  if (isReadOnly(tool.class))
    throw new ConnectorError('platform_error', `${said}; ask for less at once`, {
      platformCode: 'result_too_long',
    });
  // It answered that it did what it was asked for, and nobody will read what it said of it.
  throw new ConnectorError('platform_unavailable', said, { outcomeOpen: true });
}

/** What is left of a length after all names and texts in a value; negative where they do not fit, and then no more is read. */
function lengthLeft(value: unknown, length: number): number {
  if (typeof value === 'string') return length - value.length;
  if (typeof value !== 'object' || value === null) return length - 1;
  let left = length;
  for (const [name, member] of Object.entries(value)) {
    left = lengthLeft(member, left - name.length);
    if (left < 0) return left;
  }
  return left;
}
