// What servers and senders might say if they meant no good: words of IMAP and of HTML in any order, some many times over.
import fc from 'fast-check';

/** Pieces in any order, a few of them many times over. */
function noiseOf(pieces: readonly string[], lengthMax: number): fc.Arbitrary<string> {
  const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 20 }), fc.integer().map(String));
  const times = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 20_000 }));
  return fc.array(fc.tuple(piece, times), { maxLength: 30 }).map((parts) =>
    parts
      .map(([part, count]) => part.repeat(count))
      .join('')
      .slice(0, lengthMax),
  );
}

const IMAP_PIECES = [
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
const HTML_PIECES = [
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

export const imapNoise = noiseOf(IMAP_PIECES, 500_000);
export const htmlNoise = noiseOf(HTML_PIECES, 256 * 1024);
