export const scopes = {
  'tools:read': 'Call tools that only read',
  'tools:write': 'Call all tools',
  'account:read': 'See settings, usage and the log',
  'account:write': 'Change settings and connections',
  offline_access: 'Stay logged in',
} as const;

export const tokens = {
  title: 'Tokens',
  lead: 'Personal tokens, for scripts and for clients that cannot log in.',
  make: 'Make a token',
  name: 'Name',
  scopes: 'May',
  created: 'Made',
  lastUsed: 'Last used',
  expires: 'Ends',
  lifetime: 'Good for',
  whenRevoked: 'When revoked',
  lifetimes: { '30': '30 days', '90': '90 days', '365': 'A year', '': 'Until revoked' },
  none: 'No tokens yet',
  noneNext: 'Assistants that log in by themselves need none.',
  secret: 'Your token',
  secretHint: 'Send it as “Authorization: Bearer …”.',
  revoke: 'Revoke',
  revokeQuestion: (name: string) => `Revoke ${name}?`,
  revokeHint: 'Whoever uses it is locked out within a second.',
  revoked: 'Revoked.',
} as const;
