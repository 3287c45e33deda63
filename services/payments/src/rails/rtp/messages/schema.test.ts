/** The network's own schemas judge what the builders write and what the readers let through. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REJECT_REASONS } from '../codes.ts';
import { buildCreditTransfer } from './credit-transfer.ts';
import { markAsDuplicate } from './envelope.ts';
import { readMessage } from './read.ts';
import { buildStatusReport } from './status-report.ts';
import { buildStatusRequest } from './status-request.ts';
import * as generated from './testing.ts';

const SEED = 20_261_115;

function samples<T>(arbitrary: fc.Arbitrary<T>, numRuns: number): T[] {
  return fc.sample(arbitrary, { numRuns, seed: SEED });
}

const transferXml = fc
  .tuple(generated.header, generated.creditTransfer)
  .map((parts) => buildCreditTransfer(...parts));
const reportXml = fc
  .tuple(generated.header, generated.statusReport)
  .map((parts) => buildStatusReport(...parts));
const requestXml = fc
  .tuple(generated.header, generated.statusRequest)
  .map((parts) => buildStatusRequest(...parts));

/** Codes that banks use, and that the release of the schemas at hand does not list yet. */
const NEWER_CODES = [
  'AC01',
  'AC07',
  'AC10',
  'AM11',
  'BE13',
  'BE14',
  'BLKD',
  'CH11',
  'CUST',
  'DS04',
  'FF03',
  '9941',
];
const NEWER_CODE = new RegExp(`:(?:Cd|Prtry)>(?:${NEWER_CODES.join('|')})<`);

describe.runIf(generated.vectorsPresent)('against the schemas', () => {
  test('every message that the builders write is valid, and so is its duplicate', async () => {
    const transfers = samples(transferXml, 150);
    const reports = samples(reportXml, 150).filter((xml) => !NEWER_CODE.test(xml));
    const documents = [...transfers, ...reports, ...samples(requestXml, 50)];
    documents.push(
      ...transfers
        .slice(0, 20)
        .filter((xml) => !xml.includes('CpyDplct'))
        .map(markAsDuplicate),
    );
    const errors = await generated.schemaErrors(documents);
    expect(errors.flat()).toEqual([]);
    expect(errors.length).toBeGreaterThan(250);
  });

  test('a garbled message that the readers still take is valid, too', async () => {
    // Reports with a reason are left out: of reject codes, the readers take more than the schema lists.
    const accepted = reportXml.filter((xml) => !xml.includes('StsRsnInf'));
    const edit = fc.tuple(fc.nat(), fc.string({ unit: 'binary-ascii', maxLength: 2 }));
    const garbled = fc
      .tuple(fc.oneof(transferXml, accepted, requestXml), edit)
      .map(([xml, [place, insert]]) => {
        const at = 300 + (place % (xml.length - 300));
        return xml.slice(0, at) + insert + xml.slice(at + (place % 2));
      });
    const taken = samples(garbled, 4_000).filter((xml) => readMessage(xml).ok);
    expect(taken.length).toBeGreaterThan(200);
    const errors = await generated.schemaErrors(taken.slice(0, 300));
    expect(errors.flat()).toEqual([]);
  });

  test('the judge refuses what is invalid', async () => {
    const valid = samples(transferXml, 1)[0] as string;
    const blankHeader = generated.readVector('pacs008.xml');
    const errors = await generated.schemaErrors([blankHeader, valid.replace('>SLEV<', '>SHAR<'), valid]);
    expect(errors.map((found) => found.length > 0)).toEqual([true, true, false]);
  });

  test('the table of reject codes has every code that the schema lists', () => {
    const schema = generated.readVector('messages_urn_iso_std_iso_20022_tech_xsd_pacs_002_001_10.xsd');
    const listed = ['ExternalStatusReason1Code', 'ProprietaryReasonCode'].flatMap((type) => {
      const definition = new RegExp(`<xs:simpleType name="${type}">(.*?)</xs:simpleType>`, 's').exec(
        schema,
      )?.[1];
      return [...(definition ?? '').matchAll(/enumeration value="(\w+)"/g)].map(
        (match) => match[1] as string,
      );
    });
    expect(listed.length).toBe(62);
    expect([...REJECT_REASONS.keys()].sort()).toEqual([...listed, ...NEWER_CODES].sort());
  });
});
