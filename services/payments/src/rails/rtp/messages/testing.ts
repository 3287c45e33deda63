/** Generated messages, and the network's schemas where they are at hand: shared by the tests of this rail. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { validateXML } from 'xmllint-wasm';
import { networkDate, networkDateTime } from '../../iso20022/network-time.ts';
import { REJECT_REASONS } from '../codes.ts';
import { businessMessageId, instructionId, messageId } from '../identifiers.ts';
import type { CreditTransfer } from './credit-transfer.ts';
import type { BusinessHeader } from './envelope.ts';
import { reportOn, type StatusReport, TRANSACTION_STATUSES } from './status-report.ts';
import type { StatusRequest } from './status-request.ts';

/** A transfer without anything unusual. */
export const PLAIN_HEADER: BusinessHeader = {
  from: '234567891T1',
  to: '990000001T1',
  businessMessageId: 'B20261115234567891T1B00000000000001',
  createdAt: '2026-11-15T10:00:00',
  copy: null,
};
export const PLAIN_TRANSFER: CreditTransfer = {
  messageId: 'M20261115234567891T1B00000000000001',
  createdAt: '2026-11-15T10:00:00',
  instructionId: '20261115234567891T1BA00100000000001',
  transactionId: '20261115234567891T1BA00100000000001',
  amountCents: 12_345,
  settlementDate: '2026-11-15',
  instructingAgent: '021000021',
  instructedAgent: '021000089',
  endToEndId: 'pay_1',
  uetr: null,
  clearingReference: null,
  categoryPurpose: 'CONSUMER',
  debtor: { name: 'Ana Paula', accountNumber: '123', routingNumber: '021000021' },
  creditor: { name: 'Smith Sons', accountNumber: '456', routingNumber: '021000089' },
  remittance: 'Invoice 7',
};

const VECTORS = new URL('../../../../../../../shared/vectors/rtp/', import.meta.url);

/** The schemas are not part of the repository; tests that need them run where they lie beside it. */
export const vectorsPresent = existsSync(VECTORS);

export function readVector(name: string): string {
  return readFileSync(new URL(name, VECTORS), 'utf8');
}

/** The schema errors of each document, in order; empty lists for valid ones. One call takes all of them. */
export async function schemaErrors(documents: readonly string[]): Promise<string[][]> {
  const imports = readdirSync(VECTORS).filter((name) => name.startsWith('messages_'));
  const result = await validateXML({
    xml: documents.map((contents, index) => ({ fileName: `m${index}.xml`, contents })),
    schema: [{ fileName: 'messages.xsd', contents: readVector('messages.xsd') }],
    preload: imports.map((fileName) => ({ fileName, contents: readVector(fileName) })),
    maxMemoryPages: 4096,
  });
  return documents.map((_document, index) => {
    const file = `m${index}.xml`;
    if (result.rawOutput.includes(`${file} validates`)) return [];
    const errors = result.errors.filter((error) => error.rawMessage.startsWith(`${file}:`));
    return errors.length > 0 ? errors.map((error) => error.message) : [`${file} was not validated`];
  });
}

const NAMES = [
  'José Ñandú Müller',
  'Smith & Sons <LLC> "Best"',
  'Zoë O’Brien-Łukasz',
  '👩‍👩‍👧 Familie Grün 🎉',
  'محمد بن سلمان',
  '山田太郎',
  '  two   spaces\tand\nlines  ',
  '🎉',
  '',
  ']]>',
  '&amp;amp; &#x41;',
  'x'.repeat(300),
];

const capitals = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'ABCXYZ019'), minLength: length, maxLength: length });
const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
const visible = (lengthMax: number) =>
  fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: lengthMax,
  });
const instant = fc.date({ min: new Date('1971-01-01'), max: new Date('2199-12-31'), noInvalidDate: true });
const serial = fc.integer({ min: 0, max: 99_999_999_999 });

export const anyText = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'grapheme', maxLength: 200 }));
const amountCents = fc.oneof(
  fc.integer({ min: 1, max: 200 }),
  fc.integer({ min: 1, max: 999_999_999_900 }),
  fc.constantFrom(1, 99, 100, 101, 999_999_999_900),
);

export const header: fc.Arbitrary<BusinessHeader> = fc
  .record({
    from: capitals(11),
    to: capitals(11),
    at: instant,
    serial,
    copy: fc.constantFrom('DUPL' as const, null),
  })
  .map(({ from, to, at, serial: number, copy }) => ({
    from,
    to,
    businessMessageId: businessMessageId({
      date: networkDate(at),
      participant: from,
      source: 'B',
      serial: number,
    }),
    createdAt: networkDateTime(at),
    copy,
  }));

const party = fc.record({ name: anyText, accountNumber: visible(34), routingNumber: digits(9) });

export const creditTransfer: fc.Arbitrary<CreditTransfer> = fc
  .record({
    at: instant,
    participant: capitals(11),
    serial,
    amountCents,
    endToEndId: visible(35),
    uetr: fc.option(fc.uuid({ version: 4 })),
    clearingReference: fc.option(visible(35)),
    categoryPurpose: fc.constantFrom('CONSUMER' as const, 'BUSINESS' as const),
    instructingAgent: digits(9),
    instructedAgent: digits(9),
    debtor: party,
    creditor: party,
    remittance: fc.option(anyText),
  })
  .map(({ at, participant, serial: number, ...fields }) => {
    const date = networkDate(at);
    const instruction = instructionId({ date, participant, system: 'A001', serial: number });
    return {
      ...fields,
      messageId: messageId({ date, participant, source: 'B', serial: number }),
      createdAt: networkDateTime(at),
      settlementDate: date,
      instructionId: instruction,
      transactionId: instruction,
    };
  });

export const statusReport: fc.Arbitrary<StatusReport> = fc
  .record({
    transfer: creditTransfer,
    at: instant,
    serial,
    status: fc.constantFrom(...TRANSACTION_STATUSES),
    code: fc.option(fc.constantFrom(...REJECT_REASONS.keys())),
    text: fc.option(anyText),
    clearingReference: fc.option(visible(35)),
  })
  .map(({ transfer, at, serial: number, status, code, text, clearingReference }) =>
    reportOn(transfer, {
      messageId: messageId({
        date: networkDate(at),
        participant: '990000001T1',
        source: 'H',
        serial: number,
      }),
      createdAt: networkDateTime(at),
      status,
      reason: status === 'RJCT' ? { code, text } : null,
      acceptedAt: networkDateTime(at),
      clearingReference,
    }),
  );

export const statusRequest: fc.Arbitrary<StatusRequest> = fc
  .record({ transfer: creditTransfer, at: instant, serial })
  .map(({ transfer, at, serial: number }) => ({
    messageId: messageId({ date: networkDate(at), participant: '234567891T1', source: 'B', serial: number }),
    createdAt: networkDateTime(at),
    acceptedAt: transfer.createdAt,
    transfer: {
      messageId: transfer.messageId,
      createdAt: transfer.createdAt,
      instructionId: transfer.instructionId,
      transactionId: transfer.transactionId,
      amountCents: transfer.amountCents,
      settlementDate: transfer.settlementDate,
      instructingAgent: transfer.instructingAgent,
      instructedAgent: transfer.instructedAgent,
    },
  }));
