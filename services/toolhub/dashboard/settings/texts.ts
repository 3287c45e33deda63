export const settings = {
  title: 'Settings',
  export: 'Your data',
  exportLead:
    'Profile, connections, tokens, usage, invoices, webhooks, approvals and the log in one JSON file. Without passwords, keys and tokens.',
  exportNow: 'Download everything',
  delete: 'Delete the account',
  deleteHint:
    'Connections, tokens, webhooks and logs are removed at once and for good. What this month has cost so far is invoiced and mailed; invoices are kept as the law asks.',
  deleteHintUnverified:
    'Connections, tokens, webhooks and logs are removed at once and for good. What this month has cost so far is invoiced; invoices are kept as the law asks. Your address is not verified, so nothing is mailed to it: verify it first to get the last invoice.',
  deletePassword: 'Type it to prove that it is you.',
  deleteNow: 'Delete my account',
} as const;
