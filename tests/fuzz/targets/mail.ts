import { strict as assert } from 'node:assert';
import { ImapLimitExceeded, ImapLimiter, SmtpLimitExceeded, SmtpLimiter } from '@libs/egress';
import {
  formatMailbox,
  oneLine,
  parseAddress,
} from '../../../services/toolhub/src/connectors/email/addresses.ts';
import {
  TEXT_LENGTH_MAX,
  textOfHtml,
} from '../../../services/toolhub/src/connectors/email/mime/html-text.ts';
import { safeFilename } from '../../../services/toolhub/src/connectors/email/mime/mime-tree.ts';
import { cutText, decodeText } from '../../../services/toolhub/src/connectors/email/mime/text-part.ts';
import { createTransferDecoder } from '../../../services/toolhub/src/connectors/email/mime/transfer-decoder.ts';
import { KIB, type Target } from '../fuzz.ts';
import { imapHandler } from '../imap-handler.ts';
import { expecting } from './expecting.ts';

const CHARSETS = [
  '',
  'utf-8',
  'us-ascii',
  'iso-2022-jp',
  'gb18030',
  'utf-16',
  'shift_jis',
  'utf-7',
  'x-unknown',
];

export const mime: Target = {
  name: 'mime',
  words: ['=\r\n', '=3D', '=XX', '==', 'QUJD', '\r\n', '> ', '>>> ', ' \n', '-- \n', '../', '\u202e'],
  // As much of a part as is asked for at once; a server that sends more of it is cut off at a literal's length.
  bytesMax: 128 * KIB,
  async run(input, step) {
    for (const encoding of ['base64', 'quoted-printable', '7bit']) {
      const whole = createTransferDecoder(encoding);
      const atOnce = await step(() => Buffer.concat([whole.push(input), whole.end()]));
      assert(atOnce.length <= input.length, `${encoding} gave more than it took`);
      const parts = createTransferDecoder(encoding);
      const middle = Math.floor(input.length / 3);
      const inParts = [
        parts.push(input.subarray(0, middle)),
        parts.push(input.subarray(middle)),
        parts.end(),
      ];
      assert(atOnce.equals(Buffer.concat(inParts)), `${encoding} depends on where chunks end`);
    }
    const charset = CHARSETS[input.length % CHARSETS.length] as string;
    const part = { charset, isFlowed: input.length % 2 === 0, deletesSpace: true };
    const text = await step(() => decodeText(input, part));
    assert(Buffer.byteLength(cutText(text, 1_000).value) <= 1_000, 'longer than asked');
    await step(() => readNames(input.toString('utf8')));
  },
};

function readNames(text: string): void {
  const name = safeFilename(text);
  assert(name === null || !/[/\\\p{Cc}]/u.test(name), 'a file name that is a path');
  const address = parseAddress(text);
  if (address !== undefined) assert(!/[\r\n]/.test(formatMailbox(address)), 'an address of two lines');
  assert(!/[\r\n\0]/.test(oneLine(text)), 'a line of two lines');
}

export const html: Target = {
  name: 'html',
  words: [
    '<blockquote>',
    '</blockquote>',
    '<ol start=999999999 type=i>',
    '<li>',
    '<table><tr><td>',
    '<a href="',
    '&#x0;',
    '&amp',
    '<!--',
    '<![CDATA[',
    '<script>',
    '<p>',
    '\u00a0',
  ],
  bytesMax: 128 * KIB,
  async run(input) {
    const { value } = await textOfHtml(input.toString('utf8'));
    assert(value.length <= TEXT_LENGTH_MAX + 100, `${value.length} characters of text`);
  },
};

export const imap: Target = {
  name: 'imap',
  words: [
    '* ',
    '(',
    ')',
    '[',
    ']',
    '{3}\r\nabc',
    '"',
    '\\',
    '\r\n',
    'FETCH',
    'LIST',
    'OK',
    'NIL',
    '1:3,5',
    '\0',
    'BODYSTRUCTURE',
  ],
  bytesMax: 256 * KIB,
  async run(input, step) {
    const whole = await step(() => passLimiter(input, 64 * KIB));
    const inParts = passLimiter(input, 1_000 + (input.length % 7_000));
    // However the bytes arrive, the same answers pass until something is refused.
    if (!whole.isRefused) assert.deepEqual(inParts, whole, 'the limiter depends on where chunks end');
    const bytes = whole.answers.reduce((sum, answer) => sum + answer.length, 0);
    assert(bytes <= input.length, 'more came out than went in');
    // The library refuses what is no IMAP; how it does so is its own affair, how long it takes is ours.
    for (const answer of whole.answers.slice(0, ANSWERS_PARSED_MAX)) await step(() => imapHandler(answer));
  },
};

const ANSWERS_PARSED_MAX = 200;

/** What the limiter lets through of a stream that arrives in pieces of this size. */
function passLimiter(input: Buffer, size: number): { answers: Buffer[]; isRefused: boolean } {
  const limiter = new ImapLimiter();
  limiter.beginCommand('LIST');
  const answers: Buffer[] = [];
  try {
    for (let start = 0; start < input.length; start += size)
      answers.push(...limiter.push(input.subarray(start, start + size)));
  } catch (error) {
    if (!(error instanceof ImapLimitExceeded)) throw error;
    return { answers, isRefused: true };
  }
  return { answers, isRefused: false };
}

export const smtp: Target = {
  name: 'smtp',
  words: ['250-', '250 ', '354 ', '\r\n', 'STARTTLS', 'AUTH LOGIN', 'x'.repeat(600)],
  bytesMax: 512 * KIB,
  run: (input) =>
    expecting(SmtpLimitExceeded, () => {
      const limiter = new SmtpLimiter();
      for (let start = 0; start < input.length; start += 4_096)
        limiter.check(input.subarray(start, start + 4_096));
    }),
};
