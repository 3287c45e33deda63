export interface KnownConstructs {
  /** How often the store has each of them; exactly as often, so that what is mended is taken out here. */
  counts: Readonly<Record<string, number>>;
  /**
   * `one server`: its tables are never spread (kept local, managed or not). `two forms`: this one is for one server, and
   * the store chooses another where the tables are spread.
   */
  why: 'one server' | 'two forms';
}

/** By store. The list only grows shorter, or by a store that has two forms. */
export const KNOWN_CONSTRUCTS: Readonly<Record<string, KnownConstructs>> = {
  'libs/http/src/rates/rate-store.ts': { why: 'one server', counts: { 'moment of the clock': 5 } },
  'libs/webhooks/src/delivery/lane-store.ts': {
    why: 'one server',
    counts: { recursion: 1, 'lateral with a limit': 4 },
  },
  'services/payments/src/ledger/store.ts': { why: 'two forms', counts: { 'lock over many tenants': 1 } },
  'services/payments/src/payment-methods/store.ts': {
    why: 'two forms',
    counts: { 'lateral with a limit': 1 },
  },
  'services/payments/src/payments/accept/context-store.ts': {
    why: 'two forms',
    counts: { 'lateral with a limit': 2, 'lock over many tenants': 1 },
  },
  'services/payments/src/payments/accept/store.ts': {
    why: 'two forms',
    counts: { 'lateral with a limit': 2, 'lock over many tenants': 1 },
  },
  'services/payments/src/payments/list-store.ts': {
    why: 'two forms',
    counts: { 'lateral with a limit': 2 },
  },
  'services/payments/src/payments/store.ts': {
    why: 'two forms',
    counts: { 'place of a row': 1, 'lateral with a limit': 2, 'lock over many tenants': 1 },
  },
  'services/payments/src/rails/rtp/kept/message-store.ts': {
    why: 'two forms',
    counts: { 'lateral with a limit': 2 },
  },
  'services/payments/src/rails/rtp/network/store.ts': {
    why: 'one server',
    counts: { 'lateral with a limit': 1 },
  },
  'services/payments/src/rails/rtp/submissions/ordinary-store.ts': {
    why: 'two forms',
    counts: { 'place of a row': 2, 'lateral with a limit': 4 },
  },
  'services/payments/src/rails/rtp/submissions/store.ts': {
    why: 'two forms',
    counts: { 'place of a row': 1, 'lateral with a limit': 3, 'lock over many tenants': 1 },
  },
  'services/payments/src/webhooks/store.ts': {
    why: 'two forms',
    counts: { 'lateral with a limit': 1, 'lock over many tenants': 1 },
  },
  'services/toolhub/src/billing/meter/meter-store.ts': {
    why: 'two forms',
    counts: { 'lock over many tenants': 1 },
  },
  'services/toolhub/src/invoices/store.ts': { why: 'two forms', counts: { 'lock over many tenants': 1 } },
};
