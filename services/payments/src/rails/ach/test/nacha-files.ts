import type { Entry, NachaFile } from '../nacha/model.ts';
import { changeBatch, returnBatch } from '../nacha/replies.ts';

/** Two small files that keep every rule, as objects and as the lines that they are written in. */

export const entry: Entry = {
  transactionCode: '22',
  routingNumber: '231380104',
  accountNumber: '12345678',
  amountCents: 10_000,
  individualId: 'pay_1',
  individualName: 'Jane Doe',
  discretionaryData: '',
  trace: '121042880000001',
  addenda: [{ type: '05', text: 'Invoice 7' }],
};

export const batchHeader = {
  serviceClass: '220',
  companyName: 'Acme',
  discretionaryData: '',
  companyId: '1234567890',
  sec: 'PPD',
  entryDescription: 'PAYMENT',
  descriptiveDate: '',
  effectiveDate: '261117',
  settlementDate: '',
  originatorStatus: '1',
  odfi: '12104288',
  batchNumber: 1,
};

export const forward: NachaFile = {
  header: {
    immediateDestination: '231380104',
    immediateOrigin: '121042882',
    creationDate: '261116',
    creationTime: '0930',
    idModifier: 'A',
    destinationName: 'Federal Reserve Bank',
    originName: 'My Bank',
    referenceCode: '',
  },
  batches: [
    {
      header: batchHeader,
      entries: [
        entry,
        { ...entry, transactionCode: '33', amountCents: 0, trace: '121042880000002', addenda: [] },
      ],
    },
    {
      header: { ...batchHeader, serviceClass: '225', sec: 'WEB', batchNumber: 2 },
      entries: [
        {
          ...entry,
          transactionCode: '27',
          routingNumber: '091400606',
          amountCents: 2_500,
          discretionaryData: 'S',
          trace: '121042880000003',
          addenda: [],
        },
      ],
    },
  ],
};

export const forwardLines = [
  '101 231380104 1210428822611160930A094101Federal Reserve Bank   My Bank                        ',
  '5220Acme                                1234567890PPDPAYMENT         261117   1121042880000001',
  '62223138010412345678         0000010000pay_1          Jane Doe                1121042880000001',
  '705Invoice 7                                                                       00010000001',
  '63323138010412345678         0000000000pay_1          Jane Doe                0121042880000002',
  '822000000300462760200000000000000000000100001234567890                         121042880000001',
  '5225Acme                                1234567890WEBPAYMENT         261117   1121042880000002',
  '62709140060612345678         0000002500pay_1          Jane Doe              S 0121042880000003',
  '822500000100091400600000000025000000000000001234567890                         121042880000002',
  '9000002000001000000040055416080000000002500000000010000                                       ',
];

export function replies(): NachaFile {
  const change = changeBatch(
    { header: batchHeader, entry, traceSequence: 8, batchNumber: 2, effectiveDate: '261118' },
    'C01',
    { accountNumber: '1918171614' },
  );
  if (!change.ok) throw new Error(change.detail);
  const returned = returnBatch(
    { header: batchHeader, entry, traceSequence: 7, batchNumber: 1, effectiveDate: '261118' },
    { code: 'R03' },
  );
  return { header: forward.header, batches: [returned, change.batch] };
}

export const replyLines = [
  forwardLines[0] as string,
  '5220Acme                                1234567890PPDPAYMENT         261118   1231380100000001',
  '62112104288212345678         0000010000pay_1          Jane Doe                1231380100000007',
  '799R03121042880000001      23138010                                            231380100000007',
  '822000000200121042880000000000000000000100001234567890                         231380100000001',
  '5220Acme                                1234567890CORPAYMENT         261118   1231380100000002',
  '62112104288212345678         0000000000pay_1          Jane Doe                1231380100000008',
  '798C01121042880000001      231380101918171614                                  231380100000008',
  '822000000200121042880000000000000000000000001234567890                         231380100000002',
  '9000002000001000000040024208576000000000000000000010000                                       ',
];

export const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;
