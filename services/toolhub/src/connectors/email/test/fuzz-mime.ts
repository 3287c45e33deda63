import { strict as assert } from 'node:assert';
import { formatMailbox, oneLine, parseAddress } from '../addresses.ts';
import { TEXT_LENGTH_MAX, textOfHtml } from '../html-text.ts';
import { safeFilename } from '../mime-tree.ts';
import { cutText, decodeText } from '../text-part.ts';
import { createTransferDecoder } from '../transfer-decoder.ts';
import { type FuzzTarget, noiseOf, readCorpus, withinBudget } from './fuzz.ts';

const PIECES = [
  ...[
    '<blockquote>',
    '</blockquote>',
    '<ol start=',
    '9'.repeat(30),
    '<li>',
    '<table>',
    '<td',
    '<a href="',
    '">',
    "'",
    '<!--',
  ],
  ...[
    '-->',
    '<script>',
    '</script>',
    '<style',
    '<pre>',
    '&amp;',
    '&#',
    'x10ffff;',
    '&ngE',
    '<![CDATA[',
    '<?',
    '<br/>',
    '<img alt=',
  ],
  ...[
    'text ',
    '\r\n',
    '\n',
    '\u0000',
    '\ud800',
    '=',
    '=41',
    '=\r\n',
    '> ',
    ' \r\n',
    '-- ',
    '\u001b$B',
    '\u001b(B',
    '/',
    '\\',
    '..',
    '@',
    ',',
  ],
];
const LENGTH_MAX = 256 * 1024;
const CHARSETS = ['', 'utf-8', 'iso-2022-jp', 'utf-16', 'gb18030', 'shift_jis', 'utf-7', 'x'.repeat(100)];

export const htmlNoise = noiseOf(PIECES, LENGTH_MAX);

export const fuzzMime: FuzzTarget = {
  name: 'mime',
  corpus: readCorpus('mime'),
  arbitrary: htmlNoise.map((text) => Buffer.from(text)),
  async run(input) {
    const text = input.toString('utf8');
    const plain = await withinBudget('HTML', () => textOfHtml(text));
    assert(plain.value.length <= TEXT_LENGTH_MAX, 'more text than allowed');
    for (const encoding of ['base64', 'quoted-printable', '7bit']) {
      const decoder = createTransferDecoder(encoding);
      const decoded = await withinBudget(encoding, () => Buffer.concat([decoder.push(input), decoder.end()]));
      assert(decoded.length <= input.length, `${encoding} gave more than it took`);
    }
    for (const charset of CHARSETS) {
      const part = { charset, isFlowed: charset.length % 2 === 0, deletesSpace: charset.length % 3 === 0 };
      const decoded = await withinBudget(`charset ${charset}`, () => decodeText(input, part));
      assert(Buffer.byteLength(cutText(decoded, 1_000).value) <= 1_000, 'a cut that is too long');
    }
    await withinBudget('names', () => {
      const name = safeFilename(text);
      assert(name === null || !/[/\\]/.test(name), 'a name that is a path');
      const address = parseAddress(text);
      if (address !== undefined) assert(!/[\r\n]/.test(formatMailbox(address)), 'an address of two lines');
      assert(!/[\r\n\0]/.test(oneLine(text)), 'a line of two lines');
    });
  },
};
