/** Builders and readers together: what is written is read again, and what is not a message is refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TEXT_FIELDS, toNetworkText } from '../../iso20022/characters.ts';
import { MessageFieldError } from '../../iso20022/errors.ts';
import { buildCreditTransfer, type CreditTransfer, transferAsRead } from './credit-transfer.ts';
import { markAsDuplicate } from './envelope.ts';
import { readCreditTransfer, readMessage, readStatusReport, readStatusRequest } from './read.ts';
import { buildStatusReport, isReportOn, reportOn } from './status-report.ts';
import { buildStatusRequest } from './status-request.ts';
import * as generated from './testing.ts';

const HEADER = generated.PLAIN_HEADER;
const TRANSFER: CreditTransfer = {
  ...generated.PLAIN_TRANSFER,
  // A name with a character that XML writes otherwise.
  creditor: { ...generated.PLAIN_TRANSFER.creditor, name: 'Smith & Sons' },
};

const TRANSFER_XML = buildCreditTransfer(HEADER, TRANSFER);
const REPORT = reportOn(TRANSFER, {
  messageId: 'M20261115990000001T1H00000000000001',
  createdAt: '2026-11-15T10:00:01',
  status: 'RJCT',
  reason: { code: 'AC04', text: 'Account closed' },
  acceptedAt: '2026-11-15T10:00:01',
  clearingReference: null,
});
const REPORT_XML = buildStatusReport(HEADER, REPORT);

function refusalOf(xml: string): string {
  const reading = readMessage(xml);
  if (reading.ok) throw new Error('the message was read');
  return reading.refusal.reason;
}

/** A change to a valid report that must make its reader refuse it. */
function changed(from: string | RegExp, to: string): string {
  const result = REPORT_XML.replace(from, to);
  expect(result).not.toBe(REPORT_XML);
  return result;
}

describe('what was written is read again', () => {
  test('credit transfers, with texts as they are mapped', () => {
    fc.assert(
      fc.property(generated.header, generated.creditTransfer, (header, transfer) => {
        const xml = buildCreditTransfer(header, transfer);
        expect(readCreditTransfer(xml)).toEqual({ ok: true, header, message: transferAsRead(transfer) });
      }),
      { numRuns: 300 },
    );
  });

  test('status reports', () => {
    fc.assert(
      fc.property(generated.header, generated.statusReport, (header, report) => {
        const text = report.reason?.text;
        const mapped = text == null ? null : toNetworkText(text, TEXT_FIELDS.statusText);
        const reason = report.reason === null ? null : { ...report.reason, text: mapped };
        const reading = readStatusReport(buildStatusReport(header, report));
        expect(reading).toEqual({ ok: true, header, message: { ...report, reason } });
      }),
      { numRuns: 300 },
    );
  });

  test('status requests', () => {
    fc.assert(
      fc.property(generated.header, generated.statusRequest, (header, request) => {
        const reading = readStatusRequest(buildStatusRequest(header, request));
        expect(reading).toEqual({ ok: true, header, message: request });
      }),
    );
  });

  test('amounts have exactly two decimals', () => {
    const amounts: [number, string][] = [
      [1, '0.01'],
      [10, '0.10'],
      [100, '1.00'],
      [123_456, '1234.56'],
      [999_999_999_900, '9999999999.00'],
    ];
    for (const [amountCents, text] of amounts) {
      const xml = buildCreditTransfer(HEADER, { ...TRANSFER, amountCents });
      expect(xml.match(new RegExp(`SttlmAmt Ccy="USD">${text}<`, 'g'))).toHaveLength(2);
    }
  });

  test('readMessage tells the kinds apart', () => {
    const request = {
      messageId: REPORT.messageId,
      createdAt: HEADER.createdAt,
      acceptedAt: HEADER.createdAt,
    };
    const requestXml = buildStatusRequest(HEADER, { ...request, transfer: TRANSFER });
    const kinds = [TRANSFER_XML, REPORT_XML, requestXml].map((xml) => {
      const reading = readMessage(xml);
      return reading.ok ? reading.message.kind : reading.refusal.reason;
    });
    expect(kinds).toEqual(['pacs.008', 'pacs.002', 'pacs.028']);
  });

  test('a report can be made of a request for it, and matches the transfer', () => {
    const reading = readStatusReport(REPORT_XML);
    expect(reading.ok && isReportOn(reading.message, TRANSFER)).toBe(true);
    expect(isReportOn(REPORT, { ...TRANSFER, amountCents: 12_346 })).toBe(false);
    expect(isReportOn(REPORT, { ...TRANSFER, messageId: 'M20261115234567891T1B00000000000002' })).toBe(false);
    expect(isReportOn(REPORT, { ...TRANSFER, instructionId: '20261115234567891T1BA00100000000002' })).toBe(
      false,
    );
  });
});

describe('resending', () => {
  test('a duplicate differs from what was sent by its mark alone, however often it is marked', () => {
    fc.assert(
      fc.property(generated.header, generated.creditTransfer, (header, transfer) => {
        const sent = buildCreditTransfer({ ...header, copy: null }, transfer);
        const again = markAsDuplicate(sent);
        expect(again).toBe(buildCreditTransfer({ ...header, copy: 'DUPL' }, transfer));
        expect(again.replace('<head:CpyDplct>DUPL</head:CpyDplct>', '')).toBe(sent);
        expect(markAsDuplicate(again)).toBe(again);
      }),
    );
  });

  test('only a message of ours can be marked', () => {
    expect(() => markAsDuplicate('<Message/>')).toThrow(MessageFieldError);
    expect(() => markAsDuplicate(buildCreditTransfer({ ...HEADER, copy: 'COPY' }, TRANSFER))).toThrow(
      MessageFieldError,
    );
  });
});

describe('builders refuse what would make an invalid message', () => {
  const wrong: [string, Partial<CreditTransfer>][] = [
    ['no amount', { amountCents: 0 }],
    ['a negative amount', { amountCents: -1 }],
    ['half a cent', { amountCents: 1.5 }],
    ['an unsafe amount', { amountCents: 2 ** 53 }],
    ['a day that does not exist', { settlementDate: '2026-02-30' }],
    ['a time that does not exist', { createdAt: '2026-11-15T25:00:00' }],
    ['a message id without its letter', { messageId: TRANSFER.instructionId }],
    ['a message id with a wrong month', { messageId: 'M20261315234567891T1B00000000000001' }],
    ['a routing number of eight digits', { instructedAgent: '02100002' }],
    ['markup as a reference', { endToEndId: 'a b' }],
    ['a reference that is too long', { endToEndId: 'a'.repeat(36) }],
    ['an empty account number', { debtor: { ...TRANSFER.debtor, accountNumber: '' } }],
    ['a UETR of another version', { uetr: '7b0e7f5e-8d2b-1c6e-9a57-0c2f0a7c9d11' }],
  ];
  test.each(wrong)('%s', (_name, fields) => {
    expect(() => buildCreditTransfer(HEADER, { ...TRANSFER, ...fields })).toThrow(MessageFieldError);
  });

  test('an error names the field and keeps the account number to itself', () => {
    const accountNumber = '12345 6789 secret';
    const transfer = { ...TRANSFER, creditor: { ...TRANSFER.creditor, accountNumber } };
    const build = () => buildCreditTransfer(HEADER, transfer);
    expect(build).toThrow(/Cdtr\.accountNumber/);
    expect(build).not.toThrow(/secret/);
  });
});

describe('readers refuse', () => {
  const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';
  const cases: [string, () => string, string][] = [
    ['nothing', () => '', 'malformed'],
    ['text', () => 'OK', 'malformed'],
    ['JSON', () => '{"status":"ACTC"}', 'malformed'],
    ['more than the limit', () => REPORT_XML + ' '.repeat(65_536), 'too_large'],
    [
      'a DOCTYPE',
      () => changed(DECLARATION, `${DECLARATION}<!DOCTYPE Message SYSTEM "http://x/">`),
      'forbidden_markup',
    ],
    [
      'a declared entity',
      () =>
        changed(DECLARATION, `${DECLARATION}<!DOCTYPE m [<!ENTITY e "AC04">]>`).replace('>AC04<', '>&e;<'),
      'forbidden_markup',
    ],
    ['an entity without a declaration', () => changed('>AC04<', '>&e;<'), 'undefined_entity'],
    ['CDATA', () => changed('>AC04<', '><![CDATA[AC04]]><'), 'forbidden_markup'],
    ['a comment', () => changed('>AC04<', '>AC<!-- -->04<'), 'forbidden_markup'],
    ['a processing instruction', () => changed('>AC04<', '><?php?>AC04<'), 'forbidden_markup'],
    ['another encoding', () => changed('UTF-8', 'UTF-16'), 'malformed'],
    ['the envelope in another namespace', () => changed('"urn:tch"', '"urn:other"'), 'wrong_namespace'],
    [
      'the document in another namespace',
      () => changed('pacs.002.001.10"', 'pacs.002.001.11"'),
      'wrong_namespace',
    ],
    ['one element in another namespace', () => changed(/ps:TxSts/g, 'head:TxSts'), 'wrong_namespace'],
    ['a prefix without a namespace', () => changed(/ps:TxSts/g, 'zz:TxSts'), 'wrong_namespace'],
    ['another root', () => '<Envelope xmlns="urn:tch"/>', 'wrong_message'],
    ['a document it does not know', () => changed(/MessageStatusReport/g, 'MessageReject'), 'wrong_message'],
    [
      'a header of another message',
      () => changed('>pacs.002.001.10<', '>pacs.008.001.08<'),
      'header_mismatch',
    ],
    ['a header with one blank', () => changed(HEADER.businessMessageId, ''), 'invalid_value'],
    ['a missing element', () => changed(/<ps:InstdAgt>.*<\/ps:OrgnlTxRef>/, ''), 'missing_element'],
    [
      'an element in the wrong place',
      () => changed(/(<ps:MsgId>.*<\/ps:MsgId>)(<ps:CreDtTm>.*?<\/ps:CreDtTm>)/, '$2$1'),
      'unexpected_element',
    ],
    ['an element twice', () => changed(/(<ps:TxSts>.*<\/ps:TxSts>)/, '$1$1'), 'unexpected_element'],
    [
      'an element too many',
      () => changed('</ps:TxInfAndSts>', '<ps:More/></ps:TxInfAndSts>'),
      'unexpected_element',
    ],
    ['an attribute', () => changed('<ps:TxSts>', '<ps:TxSts a="b">'), 'unexpected_attribute'],
    ['text between elements', () => changed('<ps:TxInfAndSts>', '<ps:TxInfAndSts>ACTC'), 'malformed'],
    ['another status', () => changed('>RJCT<', '>ACSC<'), 'invalid_value'],
    ['another currency', () => changed('Ccy="USD"', 'Ccy="EUR"'), 'invalid_value'],
    ['an amount with three decimals', () => changed('>123.45<', '>123.455<'), 'invalid_value'],
    ['an amount with a sign', () => changed('>123.45<', '>-123.45<'), 'invalid_value'],
    ['an amount of nothing', () => changed('>123.45<', '>0.00<'), 'invalid_value'],
    ['a date that does not exist', () => changed(/>2026-11-15</, '>2026-11-31<'), 'invalid_value'],
    ['several transactions', () => changed('NbOfTxs>1<', 'NbOfTxs>2<'), 'invalid_value'],
    ['a routing number with a letter', () => changed('>021000021<', '>02100002O<'), 'invalid_value'],
    ['two roots', () => REPORT_XML + REPORT_XML.slice(REPORT_XML.indexOf('<Message')), 'malformed'],
  ];
  test.each(cases)('%s', (_name, make, reason) => {
    expect(refusalOf(make())).toBe(reason);
  });

  test('a transfer whose total is not its amount', () => {
    expect(refusalOf(TRANSFER_XML.replace('>123.45<', '>123.46<'))).toBe('invalid_value');
  });

  test('a message of another kind than the one expected', () => {
    expect(readStatusReport(TRANSFER_XML)).toMatchObject({ ok: false, refusal: { reason: 'wrong_message' } });
    expect(readCreditTransfer(REPORT_XML)).toMatchObject({ ok: false, refusal: { reason: 'wrong_message' } });
  });

  test('every message that is cut off', () => {
    for (let length = 0; length < REPORT_XML.length; length += 1) {
      expect(readMessage(REPORT_XML.slice(0, length)).ok, `cut at ${length}`).toBe(false);
    }
  });

  test('garbled messages without ever throwing, and without values in the detail', () => {
    const edit = fc.record({
      at: fc.nat({ max: TRANSFER_XML.length - 1 }),
      remove: fc.nat({ max: 20 }),
      insert: fc.oneof(
        fc.constantFrom('<', '>', '&', '"', '</', '<!', '\u0000', 'é'),
        fc.string({ maxLength: 4 }),
      ),
    });
    const accountNumber = '998877665544';
    const secret = buildCreditTransfer(HEADER, {
      ...TRANSFER,
      creditor: { ...TRANSFER.creditor, accountNumber },
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const xml = edits.reduce(
          (text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove),
          secret,
        );
        const reading = readMessage(xml);
        if (!reading.ok) expect(reading.refusal.detail).not.toContain(accountNumber);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('readers take', () => {
  test('other prefixes, default namespaces, white space, single quotes and schema hints', () => {
    const xml = REPORT_XML.replace(/<(\/?)ps:/g, '<$1')
      .replace(
        / xmlns:ps="([^"]*)"/,
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b"',
      )
      .replace(
        '<FIToFIPmtStsRpt>',
        "<FIToFIPmtStsRpt  xmlns = 'urn:iso:std:iso:20022:tech:xsd:pacs.002.001.10' >",
      )
      .replaceAll('><', '>\r\n  <')
      .replace('</Message>', '</Message >\n');
    expect(readStatusReport(`\uFEFF${xml}`)).toEqual({ ok: true, header: HEADER, message: REPORT });
  });

  test('a signed header, whose signature is not theirs to judge', () => {
    const signature =
      '<head:Sgntr><ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#" Id="a"/></head:Sgntr>';
    const reading = readStatusReport(REPORT_XML.replace('</AppHdr>', `${signature}</AppHdr>`));
    expect(reading).toEqual({ ok: true, header: HEADER, message: REPORT });
  });

  test('reject codes that the schema does not list, and rejects without a code', () => {
    const other = readStatusReport(REPORT_XML.replace('>AC04<', '>ZZ99<'));
    expect(other.ok && other.message.reason?.code).toBe('ZZ99');
    const none = readStatusReport(REPORT_XML.replace(/<ps:StsRsnInf>.*<\/ps:StsRsnInf>/, ''));
    expect(none.ok && none.message.reason).toBeNull();
  });

  test('the names of the network for its own reject codes', () => {
    const xml = buildStatusReport(HEADER, { ...REPORT, reason: { code: '9910', text: null } });
    expect(xml).toContain('<ps:Rsn><ps:Prtry>9910</ps:Prtry></ps:Rsn>');
    const reading = readStatusReport(xml);
    expect(reading.ok && reading.message.reason).toEqual({ code: '9910', text: null });
  });
});

describe.runIf(generated.vectorsPresent)('the published samples', () => {
  test('pacs.008', () => {
    expect(readCreditTransfer(generated.readVector('pacs008.xml'))).toEqual({
      ok: true,
      header: null,
      message: {
        messageId: 'M20230713234567891T1BOTS02083825666',
        createdAt: '2023-07-13T15:29:36',
        settlementDate: '2023-07-13',
        instructionId: '20230713234567891T1BCXIA01868416991',
        endToEndId: 'EOTS',
        transactionId: '20230713234567891T1BCXIA01868416991',
        uetr: null,
        clearingReference: '001',
        categoryPurpose: 'BUSINESS',
        amountCents: 4_615_449,
        instructingAgent: '234567891',
        instructedAgent: '000000010',
        debtor: { name: 'MRS. GREEN', accountNumber: 'US88664715164441', routingNumber: '234567891' },
        creditor: {
          name: 'Participant Valid model',
          accountNumber: '42341169728762787',
          routingNumber: '000000010',
        },
        remittance: null,
      },
    });
  });

  test('pacs.002', () => {
    const reading = readStatusReport(generated.readVector('pacs002.ACTC.xml'));
    expect(reading).toMatchObject({
      ok: true,
      header: null,
      message: {
        status: 'ACTC',
        reason: null,
        clearingReference: '001',
        original: {
          instructionId: '20230711200000057A1B123864928178098',
          amountCents: 200_000,
          settlementDate: '2023-07-11',
        },
      },
    });
  });
});
