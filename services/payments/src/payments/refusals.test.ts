import { expect, test } from 'vitest';
import type { RailId } from '../rails/rail-ids.ts';
import type { Candidate, Obstacle } from '../routing/decision.ts';
import { routingRefusal } from './refusals.ts';

function candidate(rail: RailId, ...reasons: Obstacle[]): Candidate {
  return { rail, possible: reasons.length === 0, reasons, fee: null, settles_at: null, score: null };
}
const book = candidate('book', 'only_between_balances');

test('a rail that was asked for says in words why it cannot, and which one can; the codes stay in `candidates`', () => {
  const candidates = [
    candidate('rtp', 'destination_cannot_receive', 'amount_over_limit'),
    candidate('ach'),
    book,
  ];
  expect(routingRefusal(candidates, 'rtp', 'test')).toMatchObject({
    code: 'rail_not_available',
    detail:
      'RTP cannot carry this payment: the destination account cannot receive by it, and the amount is over its limit. With the rail "auto", ACH can.',
    details: [
      {
        pointer: '/rail',
        code: 'rail_not_available',
        detail: 'The destination account cannot receive by it, and the amount is over its limit.',
      },
    ],
    extra: { candidates },
  });
});

test('where no rail can, each that could matter says why', () => {
  const candidates = [candidate('rtp', 'source_cannot_send'), candidate('ach', 'down'), book];
  expect(routingRefusal(candidates, null, 'test').detail).toBe(
    'No rail can carry this payment. RTP: the source account cannot send by it. ACH: it is out of order for the moment.',
  );
  expect(routingRefusal(candidates, 'ach', 'test').detail).toBe(
    'ACH cannot carry this payment: it is out of order for the moment.',
  );
});

test('live without a bank behind it is the affair of the operator', () => {
  const candidates = [candidate('rtp', 'not_configured'), candidate('ach', 'not_configured'), book];
  expect(routingRefusal(candidates, null, 'live').code).toBe('rail_not_configured');
  expect(routingRefusal(candidates, null, 'test').code).toBe('rail_not_available');
  const one = [candidate('rtp', 'not_configured'), candidate('ach', 'amount_over_limit'), book];
  expect(routingRefusal(one, null, 'live').code).toBe('rail_not_available');
  expect(routingRefusal(one, 'rtp', 'live').code).toBe('rail_not_configured');
});
