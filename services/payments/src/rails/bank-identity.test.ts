import { expect, test } from 'vitest';
import { createDirectory } from '../payment-methods/directory.ts';
import { SANDBOX_ORIGINATOR } from './ach/outgoing/originator.ts';
import { bankIdentityOf, bankIdentityProblems } from './bank-identity.ts';
import { SANDBOX_IDENTITY } from './rtp/lines/connection.ts';

const ach = {
  ...{ odfi: '09100001', companyName: 'ACME PAYMENTS', companyId: '1234567890', entryDescription: 'PAYMENT' },
  ...{ immediateDestination: '091000019', immediateOrigin: '1234567890' },
  ...{ destinationName: 'FIRST BANK', originName: 'ACME' },
};
const rtp = {
  ...{ participant: '091000019T1', network: '990000001T1', routingNumber: '091000019' },
  ...{ accountNumber: '5550001', accountName: 'Acme Inc' },
};
const both = { ach: true, rtp: true };
const achAlone = { ach: true, rtp: false };
const none = { ach: false, rtp: false };

test('[P-1.1] takes a whole identity, and asks only for what the live rails need', () => {
  const whole = { ach, rtp, sponsorRoutingNumbers: ['091000019'] };
  expect(bankIdentityProblems(whole, both)).toEqual([]);
  expect(bankIdentityOf(whole, both)).toEqual(whole);
  expect(bankIdentityProblems({ ach }, achAlone)).toEqual([]);
  expect(bankIdentityOf({ ach }, achAlone)).toEqual({ ach, rtp: null, sponsorRoutingNumbers: [] });
  expect(bankIdentityOf(undefined, none)).toEqual({ ach: null, rtp: null, sponsorRoutingNumbers: [] });
});

test('[P-1.1] of a half or wrong identity every field is named', () => {
  const missing = [
    ...Object.keys(ach).map((field) => `ach.${field} is missing`),
    ...Object.keys(rtp).map((field) => `rtp.${field} is missing`),
  ];
  for (const empty of [{}, [], null, { ach: 1, rtp: 'x' }])
    expect(bankIdentityProblems(empty, both)).toEqual(missing);
  const wrong = {
    ach: { ...ach, immediateDestination: '091000018', odfi: '0910' },
    rtp: { ...rtp, participant: '091000018T1', routingNumber: '123', color: 'red' },
    sponsorRoutingNumbers: ['091000019', '1'],
  };
  const fieldsNamed = (given: unknown) =>
    bankIdentityProblems(given, both).map((problem) => problem.split(' ', 1)[0]);
  expect(fieldsNamed(wrong)).toEqual([
    ...['ach.odfi', 'ach.immediateDestination', 'rtp.participant', 'rtp.routingNumber', 'rtp.color'],
    'sponsorRoutingNumbers[1]',
  ]);
  // A field that is missing hides none that is wrong.
  const { originName: _, ...half } = wrong.ach;
  expect(fieldsNamed({ ach: half, rtp })).toEqual([
    ...['ach.originName', 'ach.odfi', 'ach.immediateDestination'],
  ]);
});

test('[P-1.1] a misspelled part of the identity is named, whatever rail is live', () => {
  const misspelled = { ach, rtp, sponsorRoutingNumber: ['091000019'], ahc: ach };
  for (const live of [both, achAlone, none])
    expect(bankIdentityProblems(misspelled, live)).toEqual([
      'sponsorRoutingNumber is not a field',
      'ahc is not a field',
    ]);
});

test("[P-1.2] the sandbox's identity never stands in for a live one", () => {
  expect(bankIdentityProblems({ ach: SANDBOX_ORIGINATOR, rtp }, both)).toEqual([
    "ach is the sandbox's identity",
  ]);
  expect(bankIdentityProblems({ ach, rtp: SANDBOX_IDENTITY }, both)).toEqual([
    "rtp is the sandbox's identity",
  ]);
});

test('[P-1.3] a live account that our sponsor may debit at once can send by RTP, any other by ACH alone', () => {
  const directory = createDirectory([], ['091000019']);
  expect(directory.railsOf('091000019', 'live').send).toEqual(['rtp', 'ach']);
  expect(directory.railsOf('091000019', 'test').send).toEqual(['ach']);
  expect(directory.railsOf('122105278', 'live').send).toEqual(['ach']);
});
