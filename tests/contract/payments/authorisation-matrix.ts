// Who may call what, operation by operation, as the contract says it. A new operation needs a line here.

/**
 * A scope (`test:` where live mode is refused): keys with it, and people whose role has it; a role: people who have at
 * least that, and no key; `person`: whoever is logged in; `visitor`: everybody; `operator`: by token or as a flagged
 * person; `admin_token`: by token alone.
 */
export type Need =
  | `${'' | 'test:'}${KeyScope}`
  | 'viewer'
  | 'developer'
  | 'owner'
  | 'person'
  | 'visitor'
  | 'operator'
  | 'admin_token';

export const keyScopes = [
  'payments:read',
  'payments:write',
  'payment_methods:read',
  'payment_methods:write',
  'webhooks:read',
  'webhooks:write',
  'events:read',
  'ledger:read',
] as const;
export type KeyScope = (typeof keyScopes)[number];

const needs: Record<Need, readonly string[]> = {
  'payments:read': ['payments.list', 'payments.get', 'payments.export', 'payments.messages'],
  'payments:write': ['payments.create', 'payments.quote', 'payments.refund', 'payments.cancel'],
  'payment_methods:read': ['payment_methods.list', 'payment_methods.get'],
  'payment_methods:write': ['payment_methods.create', 'payment_methods.delete'],
  'webhooks:read': ['webhook_endpoints.list', 'webhook_endpoints.get', 'webhook_endpoints.deliveries'],
  'webhooks:write': [
    ...['webhook_endpoints.create', 'webhook_endpoints.update', 'webhook_endpoints.delete'],
    ...['webhook_endpoints.rotate_secret', 'webhook_endpoints.test', 'webhook_deliveries.retry'],
  ],
  'events:read': ['events.list', 'events.get', 'events.stream'],
  'ledger:read': ['ledger.accounts', 'ledger.entries', 'ledger.check', 'fees.get'],
  'test:payments:read': ['sandbox.get_clock'],
  'test:payments:write': [
    ...['sandbox.set_clock', 'sandbox.free_clock', 'sandbox.fund', 'sandbox.reset'],
    ...['sandbox.settle', 'sandbox.reject', 'sandbox.return', 'sandbox.notify_of_change'],
  ],
  'test:payment_methods:read': [],
  'test:payment_methods:write': [],
  'test:webhooks:read': [],
  'test:webhooks:write': [],
  'test:events:read': [],
  'test:ledger:read': [],
  viewer: [
    ...['overview.get', 'request_logs.list', 'request_logs.get', 'organisation.get', 'live_access.get'],
    ...['members.list', 'invitations.list'],
  ],
  developer: ['keys.list', 'keys.create', 'keys.roll', 'keys.revoke'],
  owner: [
    ...['organisation.update', 'live_access.request', 'members.update', 'audit.list'],
    // Others than oneself, that is: everybody may leave.
    ...['invitations.create', 'invitations.revoke', 'members.remove'],
  ],
  person: [
    ...['session.get', 'session.update', 'session.change_password', 'session.resend_verification'],
    ...['session.ask_new_passkey', 'session.add_passkey', 'session.list_passkeys', 'session.remove_passkey'],
    ...['session.list_sessions', 'session.end_session', 'session.end_other_sessions'],
    ...['session.accept_invitation'],
    ...['session.switch_organisation', 'session.create_organisation'],
  ],
  visitor: [
    ...['session.signup', 'session.login', 'session.logout', 'session.verify', 'session.forgot'],
    ...['session.reset', 'session.ask_passkey', 'session.login_by_passkey', 'session.read_invitation'],
  ],
  operator: [
    ...[
      'admin.list_quarantine',
      'admin.get_quarantine',
      'admin.apply_quarantine',
      'admin.dismiss_quarantine',
    ],
    ...['admin.reconciliation', 'admin.list_ach_files', 'admin.reject_ach_file', 'admin.list_organisations'],
    ...['admin.create_organisation', 'admin.decide_live_access', 'admin.list_keys', 'admin.create_key'],
    ...['admin.roll_key', 'admin.revoke_key'],
  ],
  admin_token: ['admin.set_operator', 'admin.remove_passkeys'],
};

/** What each operation needs. */
export const needOf: ReadonlyMap<string, Need> = new Map(
  Object.entries(needs).flatMap(([need, operations]) =>
    operations.map((operation): [string, Need] => [operation, need as Need]),
  ),
);

/** Who calls, by what decides. */
export type CallerKind =
  | { as: 'nobody' }
  | { as: 'stale_key' }
  | { as: 'key'; mode: 'test' | 'live'; scopes: readonly string[] }
  | { as: 'member'; role: 'viewer' | 'developer' | 'owner'; mode: 'test' | 'live'; isOperator: boolean }
  | { as: 'outcast' }
  | { as: 'admin_token' };

/** What the gate says: let in, not known (401), or known and refused (403). */
export type Verdict = 'in' | 401 | 403;

const ROLES = ['viewer', 'developer', 'owner'] as const;
const isRole = (need: Need): need is (typeof ROLES)[number] => (ROLES as readonly string[]).includes(need);

export function verdictOf(need: Need, caller: CallerKind): Verdict {
  if (need === 'visitor') return 'in';
  if (caller.as === 'nobody') return 401;
  // Whatever is no admin token is refused there as one, known or not.
  if (caller.as === 'stale_key') return need === 'operator' || need === 'admin_token' ? 403 : 401;
  if (need === 'admin_token') return adminTokenVerdict(caller);
  if (need === 'operator') {
    return caller.as === 'admin_token' || (caller.as === 'member' && caller.isOperator) ? 'in' : 403;
  }
  // Elsewhere the operator's token is no key of anybody.
  if (caller.as === 'admin_token') return 401;
  if (need === 'person') return caller.as === 'key' ? 403 : 'in';
  if (caller.as === 'outcast') return 403;
  if (isRole(need)) return caller.as === 'member' && reaches(caller.role, need) ? 'in' : 403;
  return scopeVerdict(need, caller);
}

/** People never count here, so a cookie without a token is as good as nothing. */
function adminTokenVerdict(caller: CallerKind): Verdict {
  if (caller.as === 'admin_token') return 'in';
  return caller.as === 'key' ? 403 : 401;
}

function reaches(role: (typeof ROLES)[number], needed: (typeof ROLES)[number]): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

function scopeVerdict(need: Need, caller: Extract<CallerKind, { as: 'key' | 'member' }>): Verdict {
  const isTestOnly = need.startsWith('test:');
  const scope = isTestOnly ? need.slice('test:'.length) : need;
  if (isTestOnly && caller.mode === 'live') return 403;
  if (caller.as === 'key') return caller.scopes.includes(scope) ? 'in' : 403;
  const isWriting = scope.endsWith(':write');
  // Nobody changes anything in live mode before the operator has approved the organisation.
  return isWriting && (caller.role === 'viewer' || caller.mode === 'live') ? 403 : 'in';
}
