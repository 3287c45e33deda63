import { UNTRUSTED_NOTICE } from '../connectors/connector.ts';
import type { ArgumentFault } from '../tools/arguments.ts';

/** The result of a tool call, as both protocol eras carry it. */
export interface ToolResult {
  [member: string]: unknown;
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: true;
}

export type FailureCode =
  | 'limit_exceeded'
  | 'not_connected'
  | 'token_expired'
  | 'platform_error'
  | 'rate_limited'
  | 'platform_unavailable'
  | 'invalid_arguments'
  | 'address_refused'
  | 'approval_required'
  | 'approval_denied'
  | 'canceled'
  | 'internal_error';

export interface Failure {
  code: FailureCode;
  message: string;
  /** Members beside code and message, such as `connect_url`. */
  details?: Record<string, unknown>;
}

export function successResult(structuredContent: Record<string, unknown>, untrusted: boolean): ToolResult {
  const json = JSON.stringify(structuredContent);
  const text = untrusted ? `${UNTRUSTED_NOTICE}\n${json}` : json;
  return { content: [{ type: 'text', text }], structuredContent };
}

export function failureResult({ code, message, details = {} }: Failure): ToolResult {
  const structuredContent = { error: { code, message, ...details } };
  return {
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    structuredContent,
    isError: true,
  };
}

export function invalidArguments(faults: readonly ArgumentFault[]): Failure {
  const places = faults.map(
    ({ pointer, detail }) => `${pointer === '' ? 'the arguments' : pointer} ${detail}`,
  );
  return {
    code: 'invalid_arguments',
    message: `The arguments do not fit this tool: ${places.join(' ')}`,
    details: { errors: faults },
  };
}
