/** How a login at a vendor may fail before the browser is there, and after it came back. */
export const BEGIN_CODES = [
  // The page of another site must not begin a login at a server of its choice.
  'csrf',
  'connect_not_supported',
  'connect_failed',
  'not_configured',
  'platform_unreachable',
  'address_refused',
  // This process lacks the key of what it is registered as at the customer's server.
  'not_ready',
] as const;

export const FINISH_CODES = [
  'connect_state_invalid',
  'connect_denied',
  'connect_failed',
  'connect_not_supported',
  'not_configured',
  'platform_unreachable',
  'address_refused',
  'credential_rejected',
] as const;

/** What a person is led back to the dashboard with, which has words for each. */
export type ConnectCode =
  | (typeof BEGIN_CODES)[number]
  | (typeof FINISH_CODES)[number]
  | 'invalid_query'
  | 'rate_limited';
