/** Which reports may end their instruction without being weighed, and which must not be believed. */
import { describe, expect, test } from 'vitest';
import { SANDBOX_IDENTITY, sandboxConnection } from '../lines/connection.ts';
import { reportOn } from '../messages/status-report.ts';
import { PLAIN_HEADER, PLAIN_TRANSFER } from '../messages/testing.ts';
import type { StoredSubmission } from '../submissions/store.ts';
import { SANDBOX_POLICY, startSubmission } from '../submissions/submission.ts';
import { faultOf, plainAcceptances, type ReceivedReport } from './reports.ts';

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

describe('a report ends its instruction at once', () => {
  test('where it is whole and ours', () => {
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
      'about another transaction',
      [
        {
          ...ours,
          report: { ...ours.report, original: { ...ours.report.original, transactionId: 'someone-elses' } },
        },
      ],
    ],
    [
      'without an amount',
      [{ ...ours, report: { ...ours.report, original: { ...ours.report.original, amountCents: null } } }],
    ],
  ])('one %s does not', (_name, reports) => {
    expect(plainAcceptances(connections, reports)).toEqual([]);
  });
});

describe('[P-5.3] a report is believed', () => {
  const { instructionId, messageId, amountCents } = transfer;
  const stored: StoredSubmission = {
    ...{ tenantId: 'org_a.test', paymentId: 'pay_1', attemptId: 'att_1', storedMessageId: 'msg_1' },
    ...{ instructionId, messageId, amountCents, settlementDate: '2026-11-15' },
    submission: startSubmission(new Date(0), SANDBOX_POLICY),
  };
  const original = (changes: Partial<ReceivedReport['report']['original']>): ReceivedReport => ({
    ...ours,
    report: { ...ours.report, original: { ...ours.report.original, ...changes } },
  });

  test('where it is about what we sent, of which it need not repeat all', () => {
    expect(faultOf(ours, stored, SANDBOX_IDENTITY)).toBeNull();
    const brief = original({ amountCents: null, transactionId: null });
    expect(faultOf(brief, stored, SANDBOX_IDENTITY)).toBeNull();
  });

  test.each<[string, ReceivedReport, StoredSubmission | undefined]>([
    ['a blank header', { ...ours, header: null }, stored],
    ['another addressee', { ...ours, header: { ...ours.header, to: '999999992T1' } }, stored],
    ['no instruction', ours, undefined],
    ['an instruction of the other mode', ours, { ...stored, tenantId: 'org_a.live' }],
    ['an instruction that has not left', ours, { ...stored, submission: null }],
    ['another message', original({ messageId: 'M20261115990000001T1H00000000000009' }), stored],
    ['another transaction', original({ transactionId: 'someone-elses' }), stored],
    ['another amount', original({ amountCents: amountCents + 1 }), stored],
    ['another kind of message', original({ messageName: 'pacs.009.001.08' }), stored],
  ])('never with %s', (_what, received, found) => {
    expect(faultOf(received, found, SANDBOX_IDENTITY)).toEqual(expect.any(String));
  });

  test('never by who is no participant', () => {
    expect(faultOf(ours, stored, undefined)).toEqual(expect.any(String));
  });
});
