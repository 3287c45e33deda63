import type { ConnectorError } from '../connectors/connector.ts';
import type { Links } from '../links.ts';
import type { ArgumentFault } from '../tools/arguments.ts';
import type { Failure } from './result.ts';

export const KEY_TAKEN: ArgumentFault = {
  pointer: '/idempotency_key',
  code: 'not_allowed',
  detail: 'was used with other arguments within the last 24 hours.',
};
export const OUTCOME_UNKNOWN =
  'An earlier call with this idempotency_key was cut off, and whether it was carried out is not known. Nothing was ' +
  'sent now. Look at the platform, and use a new key to do it again.';
export const FIRST_DID_NOTHING =
  'An earlier call with this idempotency_key has just ended without doing anything. Nothing was sent now; ask again.';
export const MAYBE_DONE =
  'Whether it was carried out is not known; look at the platform, and use a new key to do it again.';

/** Whoever is told of a failure alone does it again, and somebody gets a message twice. */
export function maybeDone(failure: Failure): Failure {
  const said = failure.message.replace(/[.]$/, '');
  return { ...failure, message: `${said}; what was asked for may have been done` };
}

export const CANCELED: Failure = { code: 'canceled', message: 'The call was canceled.' };

const OTHER_CALL: Record<'/approval_id' | '/idempotency_key', string> = {
  '/approval_id':
    'is not that of this call: client, tool and all arguments must be the same, and it runs once.',
  '/idempotency_key': 'was used for another call that waited for a person.',
};

export function notThatCall(pointer: '/approval_id' | '/idempotency_key'): ArgumentFault {
  return { pointer, code: 'not_allowed', detail: OTHER_CALL[pointer] };
}

export function approvalRequired(approval: { id: string; url: string; expiresAt: Date }): Failure {
  const { id, url, expiresAt } = approval;
  return {
    code: 'approval_required',
    message: `Nothing was done yet: the owner of this account wants to allow such calls one by one. Ask them to open ${url}, then make the same call again with approval_id ${id}.`,
    details: { approval_id: id, approval_url: url, expires_at: expiresAt.toISOString() },
  };
}

export const APPROVAL_DENIED: Failure = {
  code: 'approval_denied',
  message:
    'The owner of this account refused this call. Nothing was done; do not try it again unless they ask for it.',
};

const TOO_MANY_WAIT_SECONDS = 600;
export const TOO_MANY_WAIT: Failure = {
  code: 'rate_limited',
  message: 'Too many calls wait for the owner of this account already. Ask them to decide on those first.',
  details: { retry_after_seconds: TOO_MANY_WAIT_SECONDS },
};

export function tooFast(retryAfterSeconds: number): Failure {
  return {
    code: 'rate_limited',
    message: `Too many calls at once; try again in ${retryAfterSeconds} s.`,
    details: { retry_after_seconds: retryAfterSeconds },
  };
}

export function overLimit(limit: {
  limit: number;
  used: number;
  resetsAt: Date;
  upgradeUrl: string;
}): Failure {
  const resetsAt = limit.resetsAt.toISOString();
  return {
    code: 'limit_exceeded',
    message: `All ${limit.limit} calls of this month are used. They begin anew at ${resetsAt}; a larger plan: ${limit.upgradeUrl}`,
    details: { limit: limit.limit, used: limit.used, resets_at: resetsAt, upgrade_url: limit.upgradeUrl },
  };
}

export function notReady(code: 'not_connected' | 'token_expired', connectUrl: string): Failure {
  const what = code === 'not_connected' ? 'No account is connected' : 'The connection has expired';
  return { code, message: `${what}; connect one at ${connectUrl}`, details: { connect_url: connectUrl } };
}

export function fromConnector(error: ConnectorError, platform: string | null, links: Links): Failure {
  const { code, message } = error;
  const details: Record<string, unknown> = {};
  if (error.platformCode !== null) details.platform_code = error.platformCode;
  if (code === 'rate_limited' || error.retryAfterSeconds !== null)
    details.retry_after_seconds = error.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS;
  if (code === 'token_expired' && platform !== null) details.connect_url = links.connect(platform);
  return { code, message, details };
}

/** For platforms that say "too fast" without saying for how long. */
const DEFAULT_RETRY_SECONDS = 30;
