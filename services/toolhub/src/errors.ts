import { loginErrorDefinitions } from '@libs/login';
import { defineErrors } from '@libs/runtime';

/**
 * Every code that Toolhub's HTTP interface can answer with; the page of errors is made of it. Tool results have codes of
 * their own.
 */
export const errors = defineErrors({
  ...loginErrorDefinitions,
  // Accounts and tokens.
  unauthenticated: {
    kind: 'unauthenticated',
    title: 'Not authenticated',
    detail: 'Send a Bearer token or the session cookie.',
    help: 'The token is missing, unknown, expired or revoked.',
  },
  email_not_verified: {
    kind: 'forbidden',
    title: 'E-mail address not verified',
    detail: 'Verify your e-mail address first, by the link in the mail.',
    help: 'Ask for another mail with `POST /api/auth/verify/resend`.',
  },
  person_required: {
    kind: 'forbidden',
    title: 'Person required',
    detail: 'Only a person who is logged in may do this; a token is not enough.',
    help: 'Log in and call it with the session cookie: nothing that a token could do here may outlive the token.',
  },
  insufficient_scope: {
    kind: 'forbidden',
    title: 'Insufficient scope',
    detail: 'The token does not carry the scope that this call needs.',
    help: 'Reading needs account:read, changing needs account:write. Make a token with that scope.',
  },
  forbidden: {
    kind: 'forbidden',
    title: 'Forbidden',
    detail: 'This caller may not do that.',
    help: 'A person, an operator and a token may do different things; `detail` says who may do this.',
  },
  token_limit_reached: {
    kind: 'conflict',
    title: 'Too many tokens',
    detail: 'An account can have 100 personal tokens; revoke one first.',
    help: '`GET /api/tokens` lists them, with when each was last used.',
  },
  not_configured: {
    kind: 'unavailable',
    title: 'Not configured',
    detail: 'The operator has not configured this.',
    help: 'Ask the operator; the README of the service lists the settings.',
  },

  // Operators.
  customer_suspended: {
    kind: 'forbidden',
    title: 'Account suspended',
    detail: 'This account is suspended; ask the operator.',
    help: 'Until the operator resumes the account, its tokens and sessions are refused everywhere.',
  },

  // Credentials.
  credential_rejected: {
    kind: 'refused',
    title: 'Credential rejected',
    detail: 'The platform does not accept this credential.',
    help: 'The credential was tried at the platform and refused; nothing was stored. Check it, or store it unchecked with verify=false.',
  },
  platform_unreachable: {
    kind: 'refused',
    title: 'Platform unreachable',
    detail: 'The credential could not be checked, because the platform did not answer.',
    help: 'Nothing was stored. Check the address, try again later, or store the credential unchecked with verify=false.',
  },
  verification_required: {
    kind: 'refused',
    title: 'Verification required',
    detail: 'A credential of this platform is always checked; verify=false is not possible.',
    help: 'Whoever holds a WhatsApp number receives its messages, so the platform has to confirm it. Leave verify out.',
  },
  address_refused: {
    kind: 'refused',
    title: 'Address refused',
    detail: 'This address is not one that the service connects to.',
    help: 'Private, local and reserved addresses are refused unless the operator allows them with `TOOLHUB_EGRESS_ALLOW`.',
  },

  // Connecting in the browser.
  connect_not_supported: {
    kind: 'refused',
    title: 'Not connected in the browser',
    detail: 'Accounts of this platform are connected with PUT /api/credentials/:platform.',
    help: 'The platform has no login in the browser; store its key, password or token instead.',
  },
  connect_state_invalid: {
    kind: 'malformed',
    title: 'Login not known here',
    detail: 'This login was finished already, has taken too long, or was begun by somebody else; begin anew.',
    help: 'A login works once, for 15 minutes, in the session that began it.',
  },
  connect_denied: {
    kind: 'forbidden',
    title: 'Access not allowed',
    detail: 'The access was not allowed at the vendor; nothing was stored.',
    help: 'Begin again from the dashboard, and allow the access on the page of the vendor.',
  },
  connect_failed: {
    kind: 'refused',
    title: 'Login failed',
    detail: 'The vendor did not finish the login; nothing was stored.',
    help: "`platform_code` is the vendor's own word for the reason, where it gave one. Begin anew.",
  },

  // Tools.
  tool_always_on: {
    kind: 'refused',
    title: 'Tool is always on',
    detail: 'Tools that belong to no platform cannot be switched off.',
    help: 'Switch off platforms, or tools of a platform.',
  },

  // Approvals.
  approval_not_pending: {
    kind: 'conflict',
    title: 'Not waiting any more',
    detail: 'This call does not wait for a person any more.',
    help: 'It was decided before, has run, or waited for more than 24 hours. The client may make the call again.',
  },

  // Plans and usage.
  unknown_plan: {
    kind: 'refused',
    title: 'Unknown plan',
    detail: 'There is no plan of this name; GET /api/plans lists them.',
    help: 'Take the `id` of one of them.',
  },
  too_many_plan_changes: {
    kind: 'rate_limited',
    title: 'Too many changes of plan',
    detail: 'The plan and its cap can be changed 100 times a day; wait as long as Retry-After says.',
    help: 'Nothing was changed. A day ends at midnight in UTC; until then an operator can still change the plan.',
  },
  too_many_plans: {
    kind: 'refused',
    title: 'Too many plans',
    detail: 'There may be 50 plans.',
    help: 'Change one that nobody has any more.',
  },
  overloaded: {
    kind: 'unavailable',
    title: 'Overloaded',
    detail: 'Too many calls wait for the database; try again.',
    help: 'Nothing was done, and no call was counted.',
  },

  // Invoices.
  locked: {
    kind: 'conflict',
    title: 'Locked',
    detail: 'Another run of the invoices is under way.',
    help: 'One run works at a time. Try again when it is done; `holder` is the run, the host and the process, and after `held_until` a run that died gives way.',
    retryable: true,
  },
  period_not_ended: {
    kind: 'refused',
    title: 'Period not ended',
    detail: 'Invoices are made for months that are over.',
    help: 'Wait for the first day of the next month in UTC.',
  },
  invoice_not_payable: {
    kind: 'conflict',
    title: 'Invoice not payable',
    detail: 'A void invoice cannot be paid.',
    help: 'Look at its status first.',
  },
  invoice_not_voidable: {
    kind: 'conflict',
    title: 'Invoice not voidable',
    detail: 'A paid invoice cannot be voided.',
    help: 'Look at its status first.',
  },

  // Webhooks.
  webhook_url_refused: {
    kind: 'refused',
    title: 'Webhook address refused',
    detail: 'Webhooks may not go to this address.',
    help: '`reason` says why. Give a public https address: local, private and reserved addresses are refused in every spelling, and so are names that lead to them.',
  },
  webhook_not_configured: {
    kind: 'conflict',
    title: 'No webhook',
    detail: 'There is no webhook to send this to; set one up first.',
    help: '`POST /api/webhooks/config` sets one up.',
  },

  // Messages from platforms.
  invalid_signature: {
    kind: 'unauthenticated',
    title: 'Invalid signature',
    detail: 'X-Hub-Signature-256 is missing or does not fit the body.',
    help: 'The header is sha256= and the HMAC-SHA256 of the very bytes of the body, keyed with the app secret.',
  },
  verification_failed: {
    kind: 'forbidden',
    title: 'Verification failed',
    detail: 'The subscription check carries another verify token.',
    help: 'Put the same token into the settings of the app and into `WHATSAPP_VERIFY_TOKEN`.',
  },
  phone_number_taken: {
    kind: 'conflict',
    title: 'Phone number taken',
    detail: 'This phone number belongs to another account.',
    help: 'Disconnect it there first.',
  },
});
