import { strict as assert } from 'node:assert';
import { ImapLimitExceeded, ImapLimiter } from '@libs/egress';
import { type FuzzTarget, noiseOf, readCorpus, withinBudget } from './fuzz.ts';
import { imapHandler } from './imap-parser.ts';

const PIECES = [
  ...[
    '* ',
    '+ ',
    'A1 ',
    '(',
    ')',
    '[',
    ']',
    '"',
    '\\',
    '{3}',
    '{0}',
    '\r\n',
    '\n',
    '\r',
    '\0',
    ' ',
    '<',
    '>',
    '~',
    ',',
  ],
  ...[
    'OK ',
    'NO ',
    'BYE ',
    'FETCH ',
    '1 FETCH ',
    'LIST ',
    'SEARCH ',
    'ESEARCH ',
    'CAPABILITY ',
    'NIL ',
    'BODY[',
    'ENVELOPE ',
  ],
  ...[
    'UID ',
    'BODYSTRUCTURE ',
    '[ALERT] ',
    '[UIDNEXT ',
    '1:4294967295',
    '999999999999999999999',
    '=?utf-8?B?',
    '?=',
    '=41',
  ],
];
const LENGTH_MAX = 500_000;

export const imapNoise = noiseOf(PIECES, LENGTH_MAX);

/** What the limiter lets through of a stream that arrives in pieces of this size. */
function pass(input: Buffer, size: number): { answers: Buffer[]; refusal: string | null } {
  const limiter = new ImapLimiter();
  limiter.beginCommand('LIST');
  const answers: Buffer[] = [];
  try {
    for (let start = 0; start < input.length; start += size) {
      answers.push(...limiter.push(input.subarray(start, start + size)));
    }
  } catch (error) {
    if (!(error instanceof ImapLimitExceeded)) throw error;
    return { answers, refusal: error.message };
  }
  return { answers, refusal: null };
}

export const fuzzImap: FuzzTarget = {
  name: 'imap',
  corpus: readCorpus('imap'),
  arbitrary: imapNoise.map((text) => Buffer.from(text)),
  async run(input) {
    const whole = await withinBudget('the limiter', () => pass(input, 64 * 1024));
    const pieces = pass(input, 1_000 + (input.length % 7_000));
    // However the bytes arrive, the same answers pass until something is refused.
    if (whole.refusal === null) assert.deepEqual(pieces, whole);
    const bytes = whole.answers.reduce((sum, answer) => sum + answer.length, 0);
    assert(bytes <= input.length, 'more came out than went in');
    for (const answer of whole.answers) {
      await withinBudget(`an answer of ${answer.length} bytes`, () => imapHandler(answer));
    }
  },
};
