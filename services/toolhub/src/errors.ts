import { defineErrors } from '@libs/http';
import { adminErrorDefinitions } from './admin/errors.ts';
import { billingErrorDefinitions } from './billing/errors.ts';
import { credentialErrorDefinitions } from './credentials/errors.ts';
import { inboundErrorDefinitions } from './inbound/errors.ts';
import { invoiceErrorDefinitions } from './invoices/errors.ts';
import { toolErrorDefinitions } from './tools/errors.ts';
import { webhookErrorDefinitions } from './webhooks/errors.ts';

/** Every code that Toolhub's HTTP interface can answer with. Tool results have codes of their own. */
export const errors = defineErrors({
  ...adminErrorDefinitions,
  ...billingErrorDefinitions,
  ...credentialErrorDefinitions,
  ...inboundErrorDefinitions,
  ...invoiceErrorDefinitions,
  ...toolErrorDefinitions,
  ...webhookErrorDefinitions,
  unauthenticated: {
    kind: 'unauthenticated',
    title: 'Not authenticated',
    detail: 'Send a Bearer token or the session cookie.',
    help: 'The token is missing, unknown, expired or revoked.',
  },
  invalid_credentials: {
    kind: 'unauthenticated',
    title: 'Invalid credentials',
    detail: 'The e-mail address or the password is wrong.',
  },
  insufficient_scope: {
    kind: 'forbidden',
    title: 'Insufficient scope',
    detail: 'The token does not carry the scope that this call needs.',
    help: 'Reading needs account:read, changing needs account:write. Make a token with that scope.',
  },
  forbidden: { kind: 'forbidden', title: 'Forbidden', detail: 'This caller may not do that.' },
  email_taken: {
    kind: 'conflict',
    title: 'E-mail address taken',
    detail: 'There is an account with this e-mail address already.',
  },
  too_many_logins: {
    kind: 'rate_limited',
    title: 'Too many failed logins',
    detail: 'Too many failed logins for this account; wait as long as Retry-After says.',
  },
  token_limit_reached: {
    kind: 'conflict',
    title: 'Too many tokens',
    detail: 'An account can have 100 personal tokens; revoke one first.',
  },
  not_configured: {
    kind: 'unavailable',
    title: 'Not configured',
    detail: 'The operator has not configured this.',
  },
  busy: { kind: 'unavailable', title: 'Busy', detail: 'Too many logins are being checked; try again.' },
});
