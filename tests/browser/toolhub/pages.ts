// Every page of Toolhub's dashboard, by the name under which tests and pictures speak of it.
export const publicPages: Record<string, string> = {
  front: '/',
  login: '/login',
  signup: '/signup',
  forgot: '/forgot',
  reset: '/reset?token=none',
  verify: '/verify?token=none',
  admin: '/admin',
};

/** Behind the admin token, which is typed on each of them. */
export const operatorPages: Record<string, string> = {
  'admin-customers': '/admin',
  'admin-plans': '/admin?tab=plans',
  'admin-invoices': '/admin?tab=invoices',
  'admin-dead-letters': '/admin/dead-letters',
  'admin-jobs': '/admin/jobs',
  'admin-health': '/admin?tab=health',
};

/** Dialogs: the page, and the button that opens it. */
export const dialogs: Record<string, readonly [path: string, button: string | RegExp]> = {
  'dialog-delivery': ['/webhooks', 'Show webhook.test'],
  'dialog-dead-letter': ['/webhooks', 'Show'],
  'dialog-plan': ['/billing', 'Change to Scale'],
  'dialog-token': ['/tokens', 'Make a token'],
  'dialog-passkey': ['/settings', 'Remove'],
  'dialog-sessions': ['/settings', 'End all others'],
};

export const operatorDialogs: typeof dialogs = {
  'dialog-admin-customer': ['/admin', /@example\.com/],
  'dialog-admin-dead-letters': ['/admin/dead-letters', /@example\.com/],
  'dialog-admin-plan': ['/admin?tab=plans', 'Make a plan'],
};

export const customerPages: Record<string, string> = {
  overview: '/',
  connections: '/connections',
  'connection-email': '/connections/email',
  'connection-mastodon': '/connections/mastodon',
  'connection-slack': '/connections/slack',
  tools: '/tools',
  tool: '/tools/mastodon_create_status',
  webhooks: '/webhooks',
  billing: '/billing',
  assistants: '/assistants',
  tokens: '/tokens',
  approvals: '/approvals',
  audit: '/audit',
  settings: '/settings',
};
