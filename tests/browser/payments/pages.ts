// Every page of the dashboard, by the name under which tests and pictures speak of it.
import type { Seeded, SeededStates } from './seed.ts';

export const publicPages: Record<string, string> = {
  login: '/dashboard/login',
  signup: '/dashboard/signup',
  forgot: '/dashboard/forgot',
  reset: '/dashboard/reset?token=none',
  verify: '/dashboard/verify?token=none',
  invitation: '/dashboard/invitation?token=none',
};

/** Pages without anything in their address. */
export const listPages: Record<string, string> = {
  home: '/dashboard',
  payments: '/dashboard/payments',
  'payments-new': '/dashboard/payments/new',
  'payment-methods': '/dashboard/payment-methods',
  webhooks: '/dashboard/webhooks',
  events: '/dashboard/events',
  ledger: '/dashboard/ledger',
  'ledger-entries': '/dashboard/ledger?tab=entries',
  'ledger-fees': '/dashboard/ledger?tab=fees',
  'ledger-check': '/dashboard/ledger?tab=check',
  keys: '/dashboard/keys',
  logs: '/dashboard/logs',
  sandbox: '/dashboard/sandbox',
  team: '/dashboard/team',
  settings: '/dashboard/settings',
  operator: '/dashboard/operator',
};

export const operatorPages: Record<string, string> = {
  'operator-quarantine': '/dashboard/operator?tab=quarantine',
  'operator-reconciliation': '/dashboard/operator?tab=reconciliation',
  'operator-files': '/dashboard/operator?tab=files',
};

export function objectPages(seeded: Seeded): Record<string, string> {
  return {
    payment: `/dashboard/payments/${seeded.completed}`,
    'payment-failed': `/dashboard/payments/${seeded.failed}`,
    'payment-again': `/dashboard/payments/new?again=${seeded.failed}`,
    'payment-method': `/dashboard/payment-methods/${seeded.balance}`,
    webhook: `/dashboard/webhooks/${seeded.endpoint}`,
    event: `/dashboard/events/${seeded.event}`,
    log: `/dashboard/logs/${seeded.log}`,
  };
}

/** A payment in each state but those that `objectPages` has. */
export function statePages(states: SeededStates): Record<string, string> {
  return Object.fromEntries(
    Object.entries(states).map(([name, id]) => [`payment-${name}`, `/dashboard/payments/${id}`]),
  );
}

/** What only pictures need: pages of what is in another state than usual. */
export function otherPages({ switchedOff }: { switchedOff: string }): Record<string, string> {
  return { 'webhook-off': `/dashboard/webhooks/${switchedOff}`, 'live-keys': '/dashboard/live/keys' };
}

/** Dialogs that only pictures need. */
export const otherDialogs: ReturnType<typeof dialogs> = {
  'dialog-passkey': ['/dashboard/settings', 'Remove'],
  'dialog-sessions': ['/dashboard/settings', 'End all others'],
  'dialog-approve': ['/dashboard/operator', 'Approve'],
  'dialog-refuse': ['/dashboard/operator', 'Refuse'],
  'dialog-refused-file': ['/dashboard/operator?tab=files', 'Mark refused'],
};

/** Dialogs: the page, and the button that opens it. */
export function dialogs(seeded: Seeded): Record<string, readonly [path: string, button: string]> {
  return {
    'dialog-key': ['/dashboard/keys', 'Make a key'],
    'dialog-roll-key': ['/dashboard/keys', 'Roll'],
    'dialog-revoke-key': ['/dashboard/keys', 'Revoke'],
    'dialog-endpoint': ['/dashboard/webhooks', 'Add endpoint'],
    'dialog-edit-endpoint': [`/dashboard/webhooks/${seeded.endpoint}`, 'Edit'],
    'dialog-rotate-secret': [`/dashboard/webhooks/${seeded.endpoint}`, 'Rotate secret'],
    'dialog-delivery': [`/dashboard/webhooks/${seeded.endpoint}`, 'Payment completed'],
    'dialog-method': ['/dashboard/payment-methods', 'Add payment method'],
    'dialog-invite': ['/dashboard/team', 'Invite'],
    'dialog-refund': [`/dashboard/payments/${seeded.completed}`, 'Refund'],
    'dialog-quarantine': ['/dashboard/operator?tab=quarantine', 'View'],
  };
}
