import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHANGE_REASONS, isEntryReturnCode, RETURN_REASONS } from '../rails/ach/codes/codes.ts';
import { isRoutingNumber } from '../rails/routing-number.ts';
import { REJECT_REASONS } from '../rails/rtp/codes.ts';
import { createDirectory, readParticipants } from './directory.ts';
import {
  accountNumberFor,
  behaviourOf,
  mayBecomeTestAccount,
  TEST_ROUTING_NUMBER,
  TEST_ROUTING_NUMBER_WITHOUT_RTP,
} from './test-accounts.ts';

const entryReturns = new Map([...RETURN_REASONS].filter(([code]) => isEntryReturnCode(code)));

const families = [
  ['rtp_reject', REJECT_REASONS],
  ['rtp_timeout_reject', REJECT_REASONS],
  ['ach_return', entryReturns],
  ['ach_return_once', entryReturns],
  ['ach_late_return', entryReturns],
  ['ach_noc', CHANGE_REASONS],
] as const;

describe('behaviour travels in the account number', () => {
  test.each(families)('pm_test_%s_<code>, for every code of the network', (kind, codes) => {
    expect(codes.size).toBeGreaterThan(5);
    for (const code of codes.keys()) {
      for (const spelled of [code.toLowerCase(), code]) {
        const number = accountNumberFor(`pm_test_${kind}_${spelled}`);
        expect(number).toMatch(/^[0-9A-Za-z]{4,17}$/);
        expect(behaviourOf(number)).toEqual({ kind, code });
      }
    }
  });

  test('pm_test_rtp_timeout has no code', () => {
    expect(behaviourOf(accountNumberFor('pm_test_rtp_timeout'))).toEqual({ kind: 'rtp_timeout' });
  });

  test('a code that the network does not have is an ordinary account', () => {
    const ids = [
      'pm_test_rtp_reject_zz99',
      'pm_test_rtp_reject',
      'pm_test_rtp_timeout_ac04',
      'pm_test_ach_return_c01',
      'pm_test_ach_return_r01x',
      'pm_test_ach_noc_',
      // Between banks: it would answer nothing that we sent, and fill the operator's quarantine.
      'pm_test_ach_return_r61',
      'pm_test_ach_late_return_r77',
      'pm_test_no_rtp',
      'pm_rtp_reject_ac04',
    ];
    for (const id of ids) expect([id, behaviourOf(accountNumberFor(id))]).toEqual([id, { kind: 'ordinary' }]);
  });

  test('any other id is an ordinary account with a number of digits, always the same', () => {
    const written = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
      .filter((text) => !/\p{Cc}/u.test(text));
    const named = fc.constantFrom('zoë', 'a+b', 'a b', 'a/b', 'a,b', 'user=1', '口座');
    const id = fc.oneof(written, named).map((text) => `pm_${text}`);
    fc.assert(
      fc.property(id, (text) => {
        fc.pre(!text.startsWith('pm_test_'));
        expect(mayBecomeTestAccount(text)).toBe(true);
        expect(accountNumberFor(text)).toMatch(/^\d{12}$/);
        expect(accountNumberFor(text)).toBe(accountNumberFor(text));
        expect(behaviourOf(accountNumberFor(text))).toEqual({ kind: 'ordinary' });
      }),
    );
  });

  test('numbers that only look alike are ordinary', () => {
    for (const number of [
      'TRJAC04',
      'TRJAC0412345',
      'TRJAC041234567',
      'trjac04123456',
      'TRJZZ99123456',
      '',
    ]) {
      expect(behaviourOf(number)).toEqual({ kind: 'ordinary' });
    }
  });
});

describe('the directory', () => {
  test('lists each bank once, with a valid routing number', () => {
    const participants = readParticipants();
    const numbers = participants.map((participant) => participant.routingNumber);
    expect(numbers.filter((number) => !isRoutingNumber(number))).toEqual([]);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(participants.filter(({ sponsor, rtp }) => sponsor && !rtp)).toEqual([]);
  });

  test('knows the banks of the sandbox in test mode alone', () => {
    const directory = createDirectory(readParticipants());
    expect(directory.railsOf(TEST_ROUTING_NUMBER, 'test').send).toEqual(['rtp', 'ach']);
    expect(directory.railsOf(TEST_ROUTING_NUMBER_WITHOUT_RTP, 'test')).toEqual({
      send: ['ach'],
      receive: ['ach'],
    });
    expect(directory.find(TEST_ROUTING_NUMBER, 'live')).toBeUndefined();
    expect(directory.railsOf(TEST_ROUTING_NUMBER, 'live')).toEqual({ send: ['ach'], receive: ['ach'] });
  });
});
