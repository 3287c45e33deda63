/** Which reports may end their instruction without being weighed. */
import { expect, test } from 'vitest';
import { SANDBOX_IDENTITY, sandboxConnection } from '../lines/connection.ts';
import { reportOn } from '../messages/status-report.ts';
import { PLAIN_HEADER, PLAIN_TRANSFER } from '../messages/testing.ts';
import { plainAcceptances } from './reports.ts';

const answer = {
  messageId: 'M20261115990000001T1H00000000000001',
  createdAt: '2026-11-15T10:00:01',
  status: 'ACTC',
  reason: null,
  acceptedAt: '2026-11-15T10:00:01',
  clearingReference: null,
} as const;
const transfer = { ...PLAIN_TRANSFER, transactionId: PLAIN_TRANSFER.instructionId };
const ours = {
  mode: 'test' as const,
  xml: '',
  header: { ...PLAIN_HEADER, to: SANDBOX_IDENTITY.participant },
  report: reportOn(transfer, answer),
};
const sandbox = sandboxConnection({ inFlightMax: 1, answerJobs: [], send: async () => [] });
const connections = { test: sandbox, live: null };

test('a whole one of ours does', () => {
  expect(plainAcceptances(connections, [ours])).toMatchObject([{ instructionId: transfer.instructionId }]);
});

test.each([
  ['with a blank header', [{ ...ours, header: null }]],
  [
    'with a blank header from a network that is not connected',
    [{ ...ours, mode: 'live' as const, header: null }],
  ],
  ['for somebody else', [{ ...ours, header: { ...ours.header, to: '999999992T1' } }]],
  ['that comes twice', [ours, ours]],
  ['that rejects', [{ ...ours, report: { ...ours.report, status: 'RJCT' as const } }]],
  [
    'without an amount',
    [{ ...ours, report: { ...ours.report, original: { ...ours.report.original, amountCents: null } } }],
  ],
])('one %s does not', (_name, reports) => {
  expect(plainAcceptances(connections, reports)).toEqual([]);
});
