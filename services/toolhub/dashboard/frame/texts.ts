export const navigation = {
  overview: 'Overview',
  use: 'Use',
  connections: 'Connections',
  assistants: 'Assistants',
  tools: 'Tools',
  approvals: 'Approvals',
  developers: 'Developers',
  webhooks: 'Webhooks',
  tokens: 'Tokens',
  audit: 'Audit log',
  account: 'Account',
  billing: 'Billing',
  settings: 'Settings',
  docs: 'Guides and reference',
  operator: 'Operator pages',
} as const;

export const account = { label: 'Your account', logOut: 'Log out' } as const;
