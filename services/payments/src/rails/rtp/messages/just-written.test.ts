/** What was just written is not parsed, and never read as anything else than the parser finds. */
import { expect, test } from 'vitest';
import { buildCreditTransfer, transferAsRead } from './credit-transfer.ts';
import { justWrittenReports, justWrittenTransfers } from './just-written.ts';
import { readMessage, readStatusReport } from './read.ts';
import { buildStatusReport, reportOn } from './status-report.ts';
import { PLAIN_HEADER, PLAIN_TRANSFER } from './testing.ts';

const TRANSFER = { ...PLAIN_TRANSFER, debtor: { ...PLAIN_TRANSFER.debtor, name: 'Zoë & Søn' } };
const TRANSFER_XML = buildCreditTransfer(PLAIN_HEADER, TRANSFER);
const REPORT = reportOn(TRANSFER, {
  messageId: 'M20261115990000001T1H00000000000001',
  createdAt: '2026-11-15T10:00:01',
  status: 'RJCT',
  reason: { code: 'AC04', text: null },
  acceptedAt: '2026-11-15T10:00:01',
  clearingReference: null,
});
const REPORT_XML = buildStatusReport(PLAIN_HEADER, REPORT);

test('a transfer is read as the parser reads it, and remembered once', () => {
  const parsed = readMessage(TRANSFER_XML);
  const transfer = transferAsRead(TRANSFER);
  justWrittenTransfers.remember(TRANSFER_XML, PLAIN_HEADER, transfer);
  const remembered = readMessage(TRANSFER_XML);
  expect(remembered).toEqual(parsed);
  expect(remembered).toMatchObject({ message: { kind: 'pacs.008' } });
  expect(remembered.ok && remembered.message.kind === 'pacs.008' && remembered.message.transfer).toBe(
    transfer,
  );
  expect(justWrittenTransfers.take(TRANSFER_XML)).toBeUndefined();
});

test('a report is read as the parser reads it', () => {
  const parsed = readStatusReport(REPORT_XML);
  justWrittenReports.remember(REPORT_XML, PLAIN_HEADER, REPORT);
  const remembered = readStatusReport(REPORT_XML);
  expect(remembered).toEqual(parsed);
  expect(remembered.ok && remembered.message).toBe(REPORT);
});

test('a text that differs in one character is not the one that is known', () => {
  justWrittenReports.remember(REPORT_XML, PLAIN_HEADER, REPORT);
  const garbled = REPORT_XML.replace('AC04', 'AC0');
  expect(readStatusReport(garbled)).toMatchObject({ ok: true, message: { reason: { code: 'AC0' } } });
  expect(readStatusReport(REPORT_XML.slice(0, -1))).toMatchObject({ ok: false });
  justWrittenReports.take(REPORT_XML);
});

test('two texts under one id are two', () => {
  const accepted = { ...REPORT, status: 'ACTC', reason: null } as const;
  justWrittenReports.remember(REPORT_XML, PLAIN_HEADER, REPORT);
  justWrittenReports.remember(buildStatusReport(PLAIN_HEADER, accepted), PLAIN_HEADER, accepted);
  expect(readStatusReport(REPORT_XML)).toMatchObject({ ok: true, message: { status: 'RJCT' } });
});

test('what nobody reads makes room', () => {
  justWrittenReports.remember(REPORT_XML, PLAIN_HEADER, REPORT);
  for (let number = 0; number < 1_000; number += 1)
    justWrittenReports.remember(`<${number}>`, { ...PLAIN_HEADER, businessMessageId: `B${number}` }, REPORT);
  expect(justWrittenReports.take(REPORT_XML)).toBeUndefined();
});
