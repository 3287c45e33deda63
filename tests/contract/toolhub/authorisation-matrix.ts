// Who may call what, operation by operation, as the contract says it. A new operation needs a line here.

/**
 * `everybody`; `anyone`: everybody, though a credential that is sent must be good; a scope of the account; `person`: the
 * cookie and no token; `admin`: the operator's token; `tools`: a token, with a scope for tools.
 */
export type Need = 'everybody' | 'anyone' | 'account:read' | 'account:write' | 'person' | 'admin' | 'tools';

const platforms = [
  ...['email', 'whatsapp', 'telegram', 'slack', 'discord', 'x'],
  ...['linkedin', 'facebook', 'instagram', 'bluesky', 'mastodon'],
];

const needs: Record<Need, readonly string[]> = {
  everybody: [
    ...['account.sign_up', 'account.log_in', 'account.log_out', 'account.verify', 'plans.list'],
    ...['account.forgot_password', 'account.reset_password', 'passkeys.ask', 'passkeys.log_in'],
  ],
  anyone: ['health.platforms'],
  'account:read': [
    ...['account.get', 'sessions.list', 'tokens.list', 'audit.list', 'audit.export', 'clients.list'],
    ...['webhook.get', 'webhook.list_deliveries', 'webhook.get_delivery', 'webhook.list_dead_letters'],
    ...['credentials.list', 'credentials.get', 'platforms.list', 'tools.list', 'tools.get'],
    ...['approvals.get_rules', 'approvals.list', 'approvals.get', 'usage.get', 'plan.get', 'plan.preview'],
    ...['invoices.list', 'invoices.get', 'invoices.get_pdf', 'billing_details.get'],
  ],
  'account:write': [
    ...['account.update', 'account.resend_verification', 'sessions.end', 'tokens.revoke', 'plan.change'],
    ...['clients.disconnect', 'webhook.configure', 'webhook.remove', 'webhook.test', 'webhook.replay'],
    ...['credentials.remove', ...platforms.map((platform) => `credentials.put_${platform}`)],
    ...['connect.begin', 'connect.finish', 'tools.switch', 'platforms.switch', 'approvals.set_rules'],
    ...['billing_details.change'],
  ],
  person: [
    ...['account.close', 'account.change_password', 'account.export', 'tokens.create', 'tools.call'],
    ...['passkeys.ask_new', 'passkeys.add', 'passkeys.list', 'passkeys.remove'],
    ...['approvals.allow', 'approvals.deny', 'sessions.end_others'],
  ],
  admin: [
    ...['admin.list_dead_letter_customers', 'admin.list_dead_letters', 'admin.replay_dead_letter'],
    ...['admin.change_limit', 'admin.edit_plan', 'admin.list_invoices', 'admin.run_invoices'],
    ...['admin.list_all_invoices'],
    ...['admin.mark_invoice_paid', 'admin.void_invoice', 'admin.list_customers', 'admin.get_customer'],
    ...['admin.suspend_customer', 'admin.resume_customer', 'admin.change_plan', 'admin.list_jobs'],
    ...['admin.list_failed_jobs', 'admin.retry_job'],
  ],
  // Not of the reference, which is for programs of other kinds.
  tools: ['mcp'],
};

/** What each operation needs. */
export const needOf: ReadonlyMap<string, Need> = new Map(
  Object.entries(needs).flatMap(([need, operations]) =>
    operations.map((operation): [string, Need] => [operation, need as Need]),
  ),
);

/** Who calls, by what decides. `stale`: with something that stands for nobody any more, or never did. */
export type CallerKind =
  | { as: 'nobody' }
  | { as: 'stale'; by: 'bearer' | 'cookie' }
  | { as: 'suspended'; by: 'bearer' | 'cookie' }
  | { as: 'token'; scopes: readonly string[] }
  | { as: 'person' }
  | { as: 'internal' }
  | { as: 'admin' };

/** What the gate says: let in, not known (401), or known and refused (403). */
export type Verdict = 'in' | 401 | 403;

export function verdictOf(need: Need, caller: CallerKind): Verdict {
  if (need === 'everybody') return 'in';
  if (need === 'tools') return toolsVerdict(caller);
  switch (caller.as) {
    case 'nobody':
      return need === 'anyone' ? 'in' : 401;
    case 'stale':
      return 401;
    case 'suspended':
    case 'internal':
      return 403;
    case 'admin':
      // Elsewhere the operator's token is nobody's.
      return need === 'admin' || need === 'anyone' ? 'in' : 401;
    case 'person':
      return need === 'admin' ? 403 : 'in';
    case 'token': {
      const scope = need === 'anyone' ? 'account:read' : need;
      return caller.scopes.includes(scope) ? 'in' : 403;
    }
  }
}

/** Programs alone: no cookie counts. */
function toolsVerdict(caller: CallerKind): Verdict {
  if (caller.as === 'internal') return 'in';
  if (caller.as === 'token') return caller.scopes.some((scope) => scope.startsWith('tools:')) ? 'in' : 403;
  return caller.as === 'suspended' && caller.by === 'bearer' ? 403 : 401;
}
