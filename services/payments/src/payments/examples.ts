const decision = {
  prefer: 'balanced',
  chosen: 'ach',
  candidates: [
    {
      rail: 'rtp',
      possible: true,
      reasons: [],
      fee: { amount: 45, currency: 'USD' },
      settles_at: '2026-11-16T15:04:10.000Z',
      score: 45,
    },
    {
      rail: 'ach',
      possible: true,
      reasons: [],
      fee: { amount: 20, currency: 'USD' },
      settles_at: '2026-11-19T13:30:00.000Z',
      score: 20.7892,
    },
    {
      rail: 'book',
      possible: false,
      reasons: ['only_between_balances'],
      fee: null,
      settles_at: null,
      score: null,
    },
  ],
} as const;

/** What the first request of the guide is answered with. */
export const paymentExample = {
  id: 'pay_01kaf3v6w8q2m5x9t7c4b1n0ze',
  object: 'payment',
  mode: 'test',
  status: 'pending',
  amount: 1000,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  rail: 'auto',
  rail_selected: 'ach',
  rail_decision: decision,
  attempts: [
    {
      id: 'att_01kaf3v6w8h2b4n6p8r0s2t4v6',
      rail: 'ach',
      status: 'waiting',
      network_reference: null,
      submitted_at: null,
      settled_at: null,
      code: null,
      detail: null,
    },
  ],
  timeline: [{ status: 'pending', timestamp: '2026-11-16T15:04:05.000Z' }],
  failure: null,
  fee: { amount: 20, currency: 'USD' },
  refund_of: null,
  refunded_amount: 0,
  description: null,
  metadata: { order: '1042' },
  estimated_settlement_at: '2026-11-19T13:30:00.000Z',
  created_at: '2026-11-16T15:04:05.000Z',
  updated_at: '2026-11-16T15:04:05.000Z',
} as const;

export const quoteExample = {
  object: 'quote',
  amount: 1000,
  currency: 'USD',
  rail_selected: 'ach',
  fee: { amount: 20, currency: 'USD' },
  estimated_settlement_at: '2026-11-19T13:30:00.000Z',
  rail_decision: decision,
} as const;
