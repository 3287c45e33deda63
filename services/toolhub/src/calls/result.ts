import { UNTRUSTED_NOTICE } from '../connectors/connector.ts';
import { type ArgumentFault, FAULTS_MAX } from '../tools/arguments.ts';

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

/** The message is for models and people: the first places, and how many more there are. */
const PLACES_TOLD_MAX = 5;
const MESSAGE_LENGTH_MAX = 2_000;

export function invalidArguments(faults: readonly ArgumentFault[]): Failure {
  const told = faults.slice(0, FAULTS_MAX);
  const places = told
    .slice(0, PLACES_TOLD_MAX)
    .map(({ pointer, detail }) => `${pointer === '' ? 'the arguments' : pointer} ${detail}`);
  const more = told.length - places.length;
  if (more > 0) places.push(`And ${more} more, in errors.`);
  const message = `The arguments do not fit this tool: ${places.join(' ')}`;
  return {
    code: 'invalid_arguments',
    message: message.length > MESSAGE_LENGTH_MAX ? `${message.slice(0, MESSAGE_LENGTH_MAX)}…` : message,
    details: { errors: told },
  };
}
