import {
  AuthenticationError,
  ConnectionFailedError,
  NotFoundError,
  PaymentsError,
  PermissionDeniedError,
} from '../errors.ts';
import { UnexpectedStatusError, WaitTimeoutError } from '../wait.ts';
import { LiveKeyError, UsageError } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { UnknownOutcomeError } from './paying-once.ts';
import { SettingsFileError } from './settings-file.ts';

export interface Failure {
  line: string;
  code: number;
}

/** What the client calls the key that was given as an option. */
const KEY_NAME = 'idempotencyKey';

/** One clear line for whatever went wrong, never a stack. */
export function explain(error: unknown, program: string): Failure {
  if (error instanceof UnknownOutcomeError) {
    const { line, code } = explain(error.cause, program);
    return { line: `${line} ${error.hint}`, code };
  }
  if (error instanceof LiveKeyError) return { line: `${error.message}.`, code: exitCodes.refusedKey };
  if (error instanceof UsageError)
    return { line: `${error.message}. See: ${program} --help`, code: exitCodes.usage };
  if (error instanceof SettingsFileError) return { line: error.message, code: exitCodes.failed };
  // What the client says of an id that cannot be one.
  if (error instanceof TypeError && error.message.startsWith('An id is')) {
    return { line: error.message, code: exitCodes.usage };
  }
  if (error instanceof TypeError && error.message.startsWith(KEY_NAME)) {
    const line = `--idempotency-key${error.message.slice(KEY_NAME.length)}. See: ${program} --help`;
    return { line, code: exitCodes.usage };
  }
  // What the client's constructor says of its settings.
  if (error instanceof TypeError && /^(No API key|The API key|baseUrl)/.test(error.message)) {
    const isKey = /API key/.test(error.message);
    const line = isKey
      ? `${error.message.split(':')[0]}: run \`${program} login\`, or set PAYMENTS_API_KEY.`
      : inWordsOfTheShell(error.message);
    return { line, code: isKey ? exitCodes.refusedKey : exitCodes.usage };
  }
  if (error instanceof PaymentsError) return explainApi(error, program);
  const message = error instanceof Error ? error.message : String(error);
  return { line: `Something went wrong here: ${message.split('\n')[0]}`, code: exitCodes.failed };
}

/** The client names its own options; whoever types commands has met none of them. */
function inWordsOfTheShell(message: string): string {
  return message
    .replace('baseUrl', 'The address of the server (--url, PAYMENTS_API_URL or that of login)')
    .replace('apiKey', 'PAYMENTS_API_KEY');
}

function explainApi(error: PaymentsError, program: string): Failure {
  const named = error.request_id === undefined ? '' : ` (${error.code}, request ${error.request_id})`;
  const line = `${error.message.replaceAll(/\s*\n\s*/g, ' ')}${named}`;
  if (error instanceof AuthenticationError) {
    return {
      line: `The key was refused: run \`${program} login\` with another one.${named}`,
      code: exitCodes.refusedKey,
    };
  }
  if (error instanceof PermissionDeniedError) return { line, code: exitCodes.refusedKey };
  if (error instanceof NotFoundError) return { line, code: exitCodes.notFound };
  if (error instanceof UnexpectedStatusError) return { line, code: exitCodes.unexpectedStatus };
  if (error instanceof WaitTimeoutError) return { line, code: exitCodes.timeout };
  if (error instanceof ConnectionFailedError) {
    const hint = error.code === 'invalid_response' ? '' : ' Is the server running, and is the address right?';
    return { line: `${line}${hint}`, code: exitCodes.unreachable };
  }
  return { line, code: exitCodes.failed };
}
