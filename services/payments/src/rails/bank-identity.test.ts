import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDirectory } from '../payment-methods/directory.ts';
import { SANDBOX_ORIGINATOR } from './ach/outgoing/originator.ts';
import { readBankIdentity } from './bank-identity.ts';
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
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bank-identity-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(content: unknown, live = both) {
  const path = join(folder, 'identity.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readBankIdentity(path, live);
}

test('[P-1.1] takes a whole identity, and asks only for what the live rails need', async () => {
  const sponsorRoutingNumbers = ['091000019'];
  expect(await read({ ach, rtp, sponsorRoutingNumbers })).toEqual({ ach, rtp, sponsorRoutingNumbers });
  expect(await read({ ach }, { ach: true, rtp: false })).toEqual({
    ach,
    rtp: null,
    sponsorRoutingNumbers: [],
  });
  const none = { ach: null, rtp: null, sponsorRoutingNumbers: [] };
  expect(await readBankIdentity(undefined, { ach: false, rtp: false })).toEqual(none);
});

test('[P-1.1] a live rail without a file, with half of one or with a wrong one does not start, and every field is named', async () => {
  await expect(readBankIdentity(undefined, both)).rejects.toThrow(
    'PAYMENTS_BANK_IDENTITY must name a JSON file',
  );
  await expect(read('{')).rejects.toThrow('cannot be read as JSON');
  await expect(read({})).rejects.toThrow(
    new RegExp(
      [...Object.keys(ach).map((f) => `ach\\.${f} is missing`), 'rtp\\.participant is missing'].join('.*'),
    ),
  );
  const wrong = {
    ach: { ...ach, immediateDestination: '091000018', odfi: '0910' },
    rtp: { ...rtp, participant: '091000018T1', routingNumber: '123', color: 'red' },
    sponsorRoutingNumbers: ['091000019', '1'],
  };
  const message = await read(wrong).then(
    () => '',
    (error: Error) => error.message,
  );
  for (const field of [
    'ach.immediateDestination',
    'ach.odfi',
    'rtp.participant',
    'rtp.routingNumber',
    'rtp.color',
  ])
    expect(message).toContain(field);
  expect(message).toContain('sponsorRoutingNumbers[1]');
});

test("[P-1.2] the sandbox's identity never stands in for a live one", async () => {
  await expect(read({ ach: SANDBOX_ORIGINATOR, rtp })).rejects.toThrow("ach is the sandbox's identity");
  await expect(read({ ach, rtp: SANDBOX_IDENTITY })).rejects.toThrow("rtp is the sandbox's identity");
});

test('[P-1.3] a live account that our sponsor may debit at once can send by RTP, any other by ACH alone', () => {
  const directory = createDirectory([], ['091000019']);
  expect(directory.railsOf('091000019', 'live').send).toEqual(['rtp', 'ach']);
  expect(directory.railsOf('091000019', 'test').send).toEqual(['ach']);
  expect(directory.railsOf('122105278', 'live').send).toEqual(['ach']);
});
