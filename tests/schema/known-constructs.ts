/** What the statements of today still have: by store, how often. The list only grows shorter: take out what is mended. */
export const KNOWN_CONSTRUCTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'libs/http/src/rate-store.ts': {
    'moment of the clock': 5,
  },
  'libs/jobs/src/store.ts': {
    'moment of the clock': 6,
    'void in a select list': 1,
  },
  'libs/webhooks/src/delivery/lane-store.ts': {
    recursion: 1,
    'lateral with a limit': 4,
  },
  'libs/webhooks/src/delivery/owner-store.ts': {
    'moment of the clock': 3,
  },
  'libs/webhooks/src/delivery/queue-store.ts': {
    'void in a select list': 1,
  },
  'libs/webhooks/src/delivery/result-store.ts': {
    'place of a row': 1,
  },
  'services/payments/src/idempotency/store.ts': {
    'place of a row': 1,
  },
  'services/payments/src/ledger/store.ts': {
    'lock over many tenants': 1,
  },
  'services/payments/src/overview/store.ts': {
    'place of a row': 2,
  },
  'services/payments/src/payment-methods/store.ts': {
    'lateral with a limit': 1,
  },
  'services/payments/src/payments/accept/context-store.ts': {
    'lateral with a limit': 2,
    'lock over many tenants': 1,
  },
  'services/payments/src/payments/accept/store.ts': {
    'lateral with a limit': 2,
    'lock over many tenants': 1,
  },
  'services/payments/src/payments/store.ts': {
    'place of a row': 1,
    'lateral with a limit': 2,
    'lock over many tenants': 1,
  },
  'services/payments/src/rails/rtp/kept/message-store.ts': {
    'lateral with a limit': 2,
  },
  'services/payments/src/rails/rtp/network/store.ts': {
    'lateral with a limit': 1,
  },
  'services/payments/src/rails/rtp/submissions/store.ts': {
    'place of a row': 1,
    'lateral with a limit': 4,
    'lock over many tenants': 1,
  },
  'services/payments/src/request-log/store.ts': {
    'place of a row': 1,
  },
  'services/toolhub/src/approvals/store.ts': {
    'place of a row': 1,
  },
  'services/toolhub/src/billing/meter-store.ts': {
    'moment of the clock': 3,
    'lock over many tenants': 1,
  },
  'services/toolhub/src/calls/store.ts': {
    'moment of the clock': 4,
    'place of a row': 1,
  },
  'services/toolhub/src/customers/erasure-store.ts': {
    'place of a row': 2,
  },
  'services/toolhub/src/invoices/store.ts': {
    'moment of the clock': 6,
    'lock over many tenants': 1,
  },
};
