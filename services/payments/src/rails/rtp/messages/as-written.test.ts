/** The short way of reading never finds anything else than the long way does, and is taken where it should be. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageRefused } from '../../iso20022/refusal.ts';
import { readReportAsWritten, readTransferAsWritten } from './as-written.ts';
import { buildCreditTransfer, readCreditTransferDocument } from './credit-transfer.ts';
import { markAsDuplicate, readEnvelope } from './envelope.ts';
import { buildStatusReport, readStatusReportDocument, reportOn } from './status-report.ts';
import * as generated from './testing.ts';

const { PLAIN_HEADER, PLAIN_TRANSFER } = generated;
const PLAIN_REPORT = reportOn(PLAIN_TRANSFER, {
  messageId: 'M20261115990000001T1H00000000000001',
  createdAt: '2026-11-15T10:00:01',
  status: 'ACTC',
  reason: null,
  acceptedAt: '2026-11-15T10:00:01',
  clearingReference: null,
});

/** What the parser finds, or null where it refuses. */
function parsed<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof MessageRefused) return null;
    throw error;
  }
}

const kinds = [
  {
    name: 'transfers',
    plain: buildCreditTransfer(PLAIN_HEADER, PLAIN_TRANSFER),
    built: fc
      .tuple(generated.header, generated.creditTransfer)
      .map(([header, transfer]) => buildCreditTransfer(header, transfer)),
    short: readTransferAsWritten,
    long: (xml: string) => parsed(() => readEnvelope(xml, { 'pacs.008': readCreditTransferDocument })),
  },
  {
    name: 'reports',
    plain: buildStatusReport(PLAIN_HEADER, PLAIN_REPORT),
    built: fc
      .tuple(generated.header, generated.statusReport)
      .map(([header, report]) => buildStatusReport(header, report)),
    short: readReportAsWritten,
    long: (xml: string) => parsed(() => readEnvelope(xml, { 'pacs.002': readStatusReportDocument })),
  },
] as const;

describe.each(kinds)('$name', ({ plain, built, short, long }) => {
  test('as we write them take the short way', () => {
    expect(short(plain)).not.toBeNull();
    expect(short(plain)).toEqual(long(plain));
  });

  test('of any content are read alike', () => {
    fc.assert(
      fc.property(built, (xml) => {
        const found = short(xml);
        if (found) expect(found).toEqual(long(xml));
      }),
      { numRuns: 500 },
    );
  });

  test('that were garbled are never taken for what the parser would refuse or read otherwise', () => {
    const piece = fc.constantFrom(
      '',
      '<',
      '>',
      '&',
      '&amp;',
      '0',
      'A',
      ' ',
      '\r',
      ']]>',
      '</ct:Nm>',
      '<!-- -->',
    );
    const place = fc.nat({ max: plain.length });
    fc.assert(
      fc.property(place, fc.nat({ max: 30 }), piece, (at, length, inserted) => {
        const garbled = plain.slice(0, at) + inserted + plain.slice(at + length);
        const found = short(garbled);
        if (found) expect(found).toEqual(long(garbled));
      }),
      { numRuns: 3_000 },
    );
  });

  test('with a mark of a duplicate, more digits than readers take, or a second copy of a field take the long way', () => {
    expect(short(markAsDuplicate(plain))).toBeNull();
    expect(short(plain.replaceAll('>123.45<', '>123456789012345.67<'))).toBeNull();
    expect(
      short(plain.replace('</head:BizMsgIdr>', '</head:BizMsgIdr><head:BizMsgIdr>B</head:BizMsgIdr>')),
    ).toBeNull();
    expect(short(`${plain} `)).toBeNull();
    for (const signs of ['&', ']]>']) expect(short(plain.replace('T1B0', `T1${signs}0`))).toBeNull();
  });
});
