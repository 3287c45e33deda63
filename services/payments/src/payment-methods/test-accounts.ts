import { hash } from 'node:crypto';
import { isChangeCode, isEntryReturnCode } from '../rails/ach/codes/codes.ts';
import { REJECT_REASONS } from '../rails/rtp/codes.ts';

/*
 * Test ids with fixed behaviour. The sandbox networks see files and messages alone, as a bank would, so what an account
 * does must be written in its number: a letter T, two letters for the kind, the network's code, and six digits.
 */

export const TEST_ROUTING_NUMBER = '110000000';
/** The sandbox's bank that is not on the instant network. */
export const TEST_ROUTING_NUMBER_WITHOUT_RTP = '110000013';
export const NO_RTP_ID = 'pm_test_no_rtp';

export type BehaviourKind =
  | 'ordinary'
  | 'rtp_reject'
  | 'rtp_timeout'
  | 'rtp_timeout_reject'
  | 'ach_return'
  | 'ach_return_once'
  | 'ach_late_return'
  | 'ach_noc';

export interface Behaviour {
  kind: BehaviourKind;
  /** The network's code, where the kind has one. */
  code?: string;
}

interface Family {
  kind: Exclude<BehaviourKind, 'ordinary'>;
  letters: string;
  codeLength: number;
  isCode: (code: string) => boolean;
}

const isRejectCode = (code: string) => REJECT_REASONS.has(code);

/** A longer name stands before one that it begins with. */
const families: readonly Family[] = [
  { kind: 'rtp_timeout_reject', letters: 'TR', codeLength: 4, isCode: isRejectCode },
  { kind: 'rtp_timeout', letters: 'TO', codeLength: 0, isCode: (code) => code === '' },
  { kind: 'rtp_reject', letters: 'RJ', codeLength: 4, isCode: isRejectCode },
  { kind: 'ach_late_return', letters: 'LR', codeLength: 3, isCode: isEntryReturnCode },
  { kind: 'ach_return_once', letters: 'RO', codeLength: 3, isCode: isEntryReturnCode },
  { kind: 'ach_return', letters: 'RT', codeLength: 3, isCode: isEntryReturnCode },
  { kind: 'ach_noc', letters: 'NC', codeLength: 3, isCode: isChangeCode },
];

export type TestBehaviour = Exclude<BehaviourKind, 'ordinary'>;

/** Every behaviour that an id can ask for, and whether a code of the network ends the id. */
export const testBehaviours: readonly { kind: TestBehaviour; hasCode: boolean }[] = families.map(
  ({ kind, codeLength }) => ({ kind, hasCode: codeLength > 0 }),
);

export const TEST_PREFIX = 'pm_test_';
const ORDINARY_DIGITS = 12;
const SPECIAL_DIGITS = 6;

/** What an id asks for. A code that the network does not know asks for nothing: the account is an ordinary one. */
function wishOf(id: string): { family: Family; code: string } | undefined {
  if (!id.startsWith(TEST_PREFIX)) return undefined;
  const name = id.slice(TEST_PREFIX.length);
  for (const family of families) {
    if (name !== family.kind && !name.startsWith(`${family.kind}_`)) continue;
    const code = name.slice(family.kind.length + 1).toUpperCase();
    if (code.length === family.codeLength && family.isCode(code)) return { family, code };
  }
  return undefined;
}

/** Always the same for an id, so that the same account is recognised by its fingerprint. */
export function accountNumberFor(id: string): string {
  const wish = wishOf(id);
  if (wish === undefined) return digitsOf(id, ORDINARY_DIGITS);
  return `T${wish.family.letters}${wish.code}${digitsOf(id, SPECIAL_DIGITS)}`;
}

function digitsOf(id: string, count: number): string {
  const number = hash('sha256', id, 'buffer').readBigUInt64BE() % 10n ** BigInt(count);
  return String(number).padStart(count, '0');
}

export function behaviourOf(accountNumber: string): Behaviour {
  for (const { kind, letters, codeLength, isCode } of families) {
    const start = `T${letters}`;
    if (!accountNumber.startsWith(start)) continue;
    const code = accountNumber.slice(start.length, start.length + codeLength);
    const digits = accountNumber.slice(start.length + codeLength);
    if (!isCode(code) || !/^\d{6}$/.test(digits)) continue;
    return code === '' ? { kind } : { kind, code };
  }
  return { kind: 'ordinary' };
}

/** Whatever its writer likes, but for control characters. */
const TEST_ID = /^pm_\P{Cc}{1,252}$/u;

/** Whether an id that is not stored may become a test account. */
export function mayBecomeTestAccount(id: string): boolean {
  return TEST_ID.test(id);
}
