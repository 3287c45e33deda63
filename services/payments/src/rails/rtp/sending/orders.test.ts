/** What the rail says of a payment before it carries it, and how it hands it over. */
import type { Queryable } from '@libs/db';
import { createSealer, SealError } from '@libs/seal';
import { describe, expect, test } from 'vitest';
import type { PaymentMethod } from '../../../payment-methods/method.ts';
import type { Payment } from '../../../payments/payment.ts';
import { lostForGood } from '../../lost-keys.ts';
import { createMessageVault } from '../../message-vault.ts';
import type { RailRequest } from '../../rail.ts';
import { railVerdict } from '../answers/sign-off.ts';
import { SANDBOX_IDENTITY, sandboxConnection } from '../lines/connection.ts';
import { RTP_TERMS } from '../terms.ts';
import { createRtpCarrier, type RtpCarrierDependencies } from './orders.ts';

const transport = { inFlightMax: 1, answerJobs: [], send: async () => [] };

const dependencies: RtpCarrierDependencies = {
  terms: RTP_TERMS,
  connections: { test: sandboxConnection(transport), live: null },
  openAccountNumber: () => '1',
  isLostForGood: lostForGood(['0badc0de']),
  now: () => new Date('2026-11-15T12:00:00Z'),
  newId: () => 'msg_1',
  vault: createMessageVault(createSealer({ keys: [Buffer.alloc(32, 7)] })),
  log: { error: () => {}, warn: () => {} },
};
const rail = createRtpCarrier(dependencies);

const bank = { type: 'bank_account', railsSend: ['rtp', 'ach'], railsReceive: ['rtp', 'ach'] } as const;
const balance = { type: 'balance', railsSend: [], railsReceive: [] } as const;
const request: RailRequest = {
  mode: 'test',
  amount: 10_000_000_00,
  source: bank,
  destination: bank,
  at: new Date('2026-11-15T12:00:00Z'),
};

describe('possible', () => {
  test('a payment within the limits, at its price and five seconds', () => {
    expect(rail.possible(request)).toEqual({
      rail: 'rtp',
      obstacles: [],
      options: [{ fee: 45, settlesAt: new Date('2026-11-15T12:00:05Z'), sameDay: false }],
    });
  });

  test.each([
    ['the source cannot send', { source: { ...bank, railsSend: ['ach'] } }, ['source_cannot_send']],
    [
      'the destination cannot receive',
      { destination: { ...bank, railsReceive: ['ach'] } },
      ['destination_cannot_receive'],
    ],
    ['a cent too much', { amount: 10_000_000_01 }, ['amount_over_limit']],
    ['live without a gateway', { mode: 'live' }, ['not_configured']],
    ['money held here goes out', { source: balance }, []],
    ['and comes in', { destination: balance }, []],
    [
      'but does not leave the house for another balance',
      { source: balance, destination: balance },
      ['not_between_balances'],
    ],
    [
      'everything at once',
      {
        mode: 'live',
        amount: 99_999_999_99,
        source: { ...bank, railsSend: [] },
        destination: { ...bank, railsReceive: [] },
      },
      ['source_cannot_send', 'destination_cannot_receive', 'amount_over_limit', 'not_configured'],
    ],
  ] as const)('%s', (_name, changes, obstacles) => {
    expect(rail.possible({ ...request, ...(changes as Partial<RailRequest>) }).obstacles).toEqual(obstacles);
  });
});

test('the sandbox has an identity that the network accepts', () => {
  expect(SANDBOX_IDENTITY.participant).toMatch(/^[A-Z0-9]{11}$/);
});

test('only the network or our own bank being out takes the rail down at once', () => {
  expect(['9909', '9948', '9934'].map(railVerdict)).toEqual(['out', 'out', 'out']);
  expect(['9910', '9912'].map(railVerdict)).toEqual(['doubtful', 'doubtful']);
  expect([null, 'AC04', 'RC04', 'ZZZZ'].map(railVerdict)).toEqual(['works', 'works', 'works', 'works']);
});

describe('a network that lies in our own database', () => {
  const method = {
    tenantId: 'org_a.test',
    id: 'pm_a',
    type: 'balance',
    bank: null,
  } as unknown as PaymentMethod;
  const payment = {
    tenantId: 'org_a.test',
    id: 'pay_a',
    mode: 'test',
    amount: 100,
    description: null,
  } as Payment;
  const at = new Date('2026-11-15T12:00:00Z');
  const submission = { payment, attemptId: 'att_a', source: method, destination: method, at, acceptedAt: at };

  test.each([
    ['takes a message in the transaction that submits it', false, ['rtp.ask'], 1],
    ['gets it after the commit where its books would commit apart', true, ['rtp.send'], 0],
  ])('%s', async (_name, isSpread, jobNames, takenWithin) => {
    let taken = 0;
    const takeWithin = async (_tx: Queryable, messages: readonly unknown[]) => {
      taken += messages.length;
    };
    const carrier = createRtpCarrier({
      ...dependencies,
      connections: { test: sandboxConnection({ ...transport, takeWithin }), live: null },
    });
    const rows = [{ serial: 1 }];
    const tx = { isSpread, query: async () => ({ rows, rowCount: 1 }) } as unknown as Queryable;
    const { jobs } = await carrier.submit(tx, [{ ...submission, clock: { state: 'real' } }]);
    expect(jobs.map(({ name }) => name)).toEqual(jobNames);
    expect(taken).toBe(takenWithin);
  });

  test.each([
    ['test', '0badbeef', 'refused'],
    ['live', '0badc0de', 'refused'],
    ['live', '0badbeef', 'waits'],
  ] as const)('in %s mode an account under key %s, which is not here: %s', async (mode, keyId, then) => {
    const line = sandboxConnection(transport);
    const account = { holderName: 'Ada Lovelace', routingNumber: '110000000' };
    const source = { ...method, type: 'bank_account', bank: account } as unknown as PaymentMethod;
    const carrier = createRtpCarrier({
      ...dependencies,
      connections: { test: line, live: line },
      openAccountNumber() {
        throw new SealError('unknown_key', 'no configured key opens this envelope', { keyId });
      },
    });
    const tx = { query: async () => ({ rows: [{ serial: 1 }], rowCount: 1 }) } as unknown as Queryable;
    const work = carrier.submit(tx, [
      { ...submission, source, payment: { ...payment, mode }, clock: { state: 'real' } },
    ]);
    if (then === 'waits') return expect(work).rejects.toThrow(SealError);
    expect((await work).outcomes).toMatchObject([{ kind: 'rejected', code: 'message_refused' }]);
  });
});
