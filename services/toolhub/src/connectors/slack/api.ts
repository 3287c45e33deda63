import type { ToolContext } from '../connector.ts';
import { bearer, type OAuthCredential, secretsOf } from '../vendor-api/oauth-credential.ts';
import { withParticulars } from '../vendor-api/reasons.ts';
import {
  createVendorApi,
  notNow,
  refusedBy,
  retryAfterSeconds,
  slowDown,
  tokenRefused,
} from '../vendor-api/request.ts';
import { fieldsOf, listOf, shapeOf, textOrNull } from '../vendor-api/shape.ts';

/*
 * The Web API is one HTTP call per method, so the shared guarded client does. @slack/web-api would bring axios, which
 * the guard of outgoing connections does not see, and retries of its own that send a message twice.
 */

export const TITLE = 'Slack';
export const SLACK_URL = 'https://slack.com/api';
export const shape = shapeOf(TITLE);

export type SlackContext = ToolContext<OAuthCredential>;

const TOKEN_ERRORS = new Set([
  'token_expired',
  'invalid_auth',
  'token_revoked',
  'account_inactive',
  'not_authed',
]);
const PASSING_ERRORS = new Set(['service_unavailable', 'request_timeout']);
/** Of these Slack says that some aspect of the operation may have succeeded. */
const HALFWAY_ERRORS = new Set(['internal_error', 'fatal_error']);

/** Slack refuses with status 200 and `{ok: false, error}`; only limits and outages have a status of their own. */
export const callSlack = createVendorApi<OAuthCredential>({
  title: TITLE,
  baseUrl: ({ baseUrl }) => baseUrl ?? SLACK_URL,
  headers: bearer,
  secrets: secretsOf,
  isRefusal: ({ body }) => fieldsOf(body).ok === false,
  explain({ status, headers, body, isRead }, said, now) {
    const { error, errors, needed, response_metadata } = fieldsOf(body);
    const code = textOrNull(error);
    if (code !== null && HALFWAY_ERRORS.has(code))
      return notNow(`${TITLE} failed (${code})`, { isRead, isHalfway: true });
    if (code === null || status >= 500) return undefined;
    if (TOKEN_ERRORS.has(code)) return tokenRefused(TITLE);
    if (status === 429 || code === 'ratelimited' || code === 'rate_limited')
      return slowDown(TITLE, retryAfterSeconds(headers, now));
    if (PASSING_ERRORS.has(code)) return notNow(`${TITLE} cannot answer now (${code})`, { isRead });
    const scope = textOrNull(needed);
    const general = scope === null ? code : `${code}, the token needs ${scope}`;
    const particulars = [...listOf(fieldsOf(response_metadata).messages), ...listOf(errors)];
    return refusedBy(TITLE, said(withParticulars(general, particulars.map(withoutMark))), said(code));
  },
});

/** Slack writes `[ERROR]` before what is wrong with blocks and arguments. */
function withoutMark(fault: unknown): unknown {
  return typeof fault === 'string' ? fault.replace(/^\[ERROR\]\s*/, '') : fault;
}
