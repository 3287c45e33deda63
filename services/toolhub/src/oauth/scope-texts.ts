import type { Scope } from '../customers/identity.ts';

export const scopeTexts: Record<Scope, string> = {
  'tools:read': 'Read through your connected accounts: messages, mail, posts',
  'tools:write': 'Use all tools: also send, publish, change and delete through your connected accounts',
  'account:read': 'See your Toolhub account: usage, invoices, connections, audit log',
  'account:write': 'Change your Toolhub account: connections, tokens, webhooks, plan',
  offline_access: 'Stay connected while you are away, until you revoke it',
};
