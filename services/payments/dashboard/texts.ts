import { events } from './events/texts.ts';
import { account, mode, navigation } from './frame/texts.ts';
import { first, home } from './home/texts.ts';
import { keys } from './keys/texts.ts';
import { ledger } from './ledger/texts.ts';
import { logs } from './logs/texts.ts';
import { operator } from './operator/texts.ts';
import { methods } from './payment-methods/texts.ts';
import { newPayment, payment, payments, refusals } from './payments/texts.ts';
import { sandbox } from './sandbox/texts.ts';
import { invitation, liveAccess, signup } from './session/texts.ts';
import { settings } from './settings/texts.ts';
import { team } from './team/texts.ts';
import { webhooks } from './webhooks/texts.ts';

/** Every word of the dashboard: what a page alone says lies in its folder, what several say is here. */
export const texts = {
  product: 'Payments',
  common: { refresh: 'Refresh', again: 'Check again', actions: 'Actions' },
  fields: { email: 'E-mail', password: 'Password', name: 'Name', organisation: 'Organisation' },
  roles: { owner: 'Owner', developer: 'Developer', viewer: 'Viewer' },
  roleHints: {
    owner: 'Everything, members and live access included',
    developer: 'Payments, webhooks, keys and the sandbox',
    viewer: 'Looks at everything but keys, and changes nothing',
  },
  statuses: {
    pending: 'Pending',
    processing: 'Processing',
    completed: 'Completed',
    failed: 'Failed',
    canceled: 'Canceled',
    returned: 'Returned',
  },
  rails: { rtp: 'RTP', ach: 'ACH', book: 'Book' },
  railHints: {
    rtp: 'Real-time payments: settled within seconds, at any hour',
    ach: 'Batches between banks: cheap, settled in banking days',
    book: 'Between two balances held here: at once and free',
  },
  mode,
  navigation,
  account,
  liveAccess,
  signup,
  invitation,
  home,
  first,
  payments,
  payment,
  newPayment,
  refusals,
  methods,
  webhooks,
  events,
  ledger,
  keys,
  logs,
  sandbox,
  team,
  settings,
  operator,
} as const;
