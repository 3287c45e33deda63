export const mode = {
  test: 'Test',
  live: 'Live',
  label: 'Mode',
  testBanner: 'Test mode: nothing here moves real money.',
  liveBanner: 'Live mode: payments here move real money.',
  toTest: 'Switch to test mode',
  toLive: 'Switch to live mode',
} as const;

export const navigation = {
  home: 'Home',
  payments: 'Payments',
  newPayment: 'New payment',
  methods: 'Payment methods',
  webhooks: 'Webhooks',
  events: 'Events',
  ledger: 'Ledger',
  keys: 'API keys',
  logs: 'Request log',
  sandbox: 'Sandbox',
  team: 'Team',
  settings: 'Settings',
  operator: 'Operator',
  money: 'Money',
  developers: 'Developers',
  organisation: 'Organisation',
  reference: 'API reference',
} as const;

export const account = {
  switchTo: 'Switch organisation',
  switched: (name: string) => `You now look at ${name}.`,
  anotherPerson: (name: string) => `You are logged in as ${name} now.`,
  noOrganisation: 'no organisation',
  roleChanged: (role: string) => `Your role here is another one now: ${role}.`,
} as const;
