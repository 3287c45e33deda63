// How mail reads: HTML as text, charsets, and paragraphs that were wrapped on the way.
import { describe, expect, it } from 'vitest';
import { TEXT_LENGTH_MAX, textOfHtml } from './html-text.ts';
import { cutText, decodeText } from './text-part.ts';

const part = (overrides: Partial<Parameters<typeof decodeText>[1]> = {}) => ({
  charset: '',
  isFlowed: false,
  deletesSpace: false,
  ...overrides,
});

describe('text of HTML', () => {
  it('keeps paragraphs, lists, quotations, tables and addresses', async () => {
    const html = `<html><head><title>t</title><style>p{}</style></head><body><h1>Hello &amp; hi</h1>
      <p>Dear  <b>Bob</b>,<br>see <a href="https://x.test/?a=1&amp;b=2">this</a>, <a href="https://y.test">https://y.test</a>
      and <a href="javascript:alert(1)">that</a>.</p>
      <ul><li>one</li><li>two<ol start=3><li>a</li><li>b</li></ol></li></ul>
      <blockquote>quoted<blockquote>deeper</blockquote></blockquote>
      <table><tr><td>A</td><td>B</td></tr><tr><td>C</td></tr></table><pre>x
  y</pre><img alt="a cat">end<script>evil()</script></body></html>`;
    expect((await textOfHtml(html)).value).toBe(
      [
        ...[
          'Hello & hi',
          '',
          'Dear Bob,',
          'see this [https://x.test/?a=1&b=2], https://y.test and that.',
          '',
        ],
        ...['* one', '* two', '  3. a', '  4. b', '', '> quoted', '', '> > deeper', '', 'A B', 'C', ''],
        ...['x', '  y', '', 'a catend'],
      ].join('\n'),
    );
  });

  it('counts from 1 where a list counts from nowhere, and says what it cut', async () => {
    const list = '<ol start=999999999 type=i><li>one</li></ol><ol start=-2><li>x</ol>';
    expect((await textOfHtml(list)).value).toBe('1. one\n\n-2. x');
    const deep = await textOfHtml(`${'<blockquote>'.repeat(990)}deep`);
    expect(deep).toEqual({ value: `${'> '.repeat(8)}deep`, truncated: false });
    const long = await textOfHtml('word '.repeat(100_000));
    expect(long.truncated).toBe(true);
    expect(long.value.length).toBeLessThanOrEqual(TEXT_LENGTH_MAX);
    expect(await textOfHtml('')).toEqual({ value: '', truncated: false });
  });
});

describe('text of parts', () => {
  it.each([
    ['', Buffer.from('grün'), 'grün'],
    ['us-ascii', Buffer.from('gr\xfcn', 'latin1'), 'grün'],
    ['iso-8859-1', Buffer.from('gr\xfcn', 'latin1'), 'grün'],
    ['koi8-r', Buffer.from([0xf0, 0xd2, 0xc9]), 'При'],
    ['iso-2022-jp', Buffer.from('\x1b$BF|K\\8l\x1b(B', 'latin1'), '日本語'],
    ['cp932', Buffer.from([0x93, 0xfa]), '日'],
    ['x-unknown', Buffer.from('gr\xfcn', 'latin1'), 'grün'],
    ...['x-unknown', 'utf8mb4', 'utf_8', 'default'].map((charset): [string, Buffer, string] => [
      charset,
      Buffer.from('grün 日'),
      'grün 日',
    ]),
    ['utf8mb4', Buffer.from('gr\xfcn', 'latin1'), 'gr\ufffdn'],
    ['utf-8', Buffer.from([0x61, 0xc3]), 'a'],
    ['utf-16', Buffer.from([0xff, 0xfe, 0x67, 0, 0xfc, 0]), 'gü'],
    ['utf-16', Buffer.from([0xfe, 0xff, 0, 0x67, 0, 0xfc]), 'gü'],
    ['utf-16', Buffer.from([0, 0x67, 0, 0xfc]), 'gü'],
    ['utf-7', Buffer.from('gr+APw-n +ZeVnLIqe-: 1 +- 1 +2D3eAA-.'), 'grün 日本語: 1 + 1 😀.'],
    ['utf-7', Buffer.from('C++ +A 1 + 2 +ZeVnLIq'), 'C++ +A 1 + 2 日本'],
    ['unicode-1-1-utf-7', Buffer.from('Hi Mom +Jjo!'), 'Hi Mom ☺!'],
    ['utf-32', Buffer.from([0xff, 0xfe, 0, 0, 0x67, 0, 0, 0, 0x00, 0xf6, 0x01, 0, 1]), 'g😀'],
    ['utf-32be', Buffer.from([0, 0, 0, 0x67, 0, 0, 0xd8, 0, 0x7f, 0, 0, 0]), 'g��'],
    ['hz-gb-2312', Buffer.from('a ~{<:Ky2;S{!#~} ~~b~\n~{1'), 'a 己所不欲。 ~b'],
    ['iso-2022-kr', Buffer.from('\x1b$)C\x0eGQ1[\x0f a\n\x0eGQ\nb', 'latin1'), '한글 a\n한\nb'],
    ['cp437', Buffer.from('plain'), 'plain'],
    [
      'cp437',
      Buffer.from([0x67, 0x81]),
      '[Letters beyond ASCII may be wrong: the charset “cp437” of this text is not known here.]\ng\x81',
    ],
    [
      '"<b>',
      Buffer.from('ü', 'latin1'),
      '[Letters beyond ASCII may be wrong: the charset of this text is not known here.]\nü',
    ],
    ['utf-16le', Buffer.from([0xff, 0xfe, 0x67, 0]), 'g'],
  ])('in %s', (charset, bytes, text) => {
    expect(decodeText(bytes, part({ charset }))).toBe(text);
  });

  it('joins what flowed, by the depth of its quotation', () => {
    const flowed = Buffer.from('one \r\ntwo\r\n>> q \r\n>> r\r\n> s \r\n  stuffed\r\n-- \r\nname');
    expect(decodeText(flowed, part({ isFlowed: true }))).toBe('one two\n>> q r\n> s \n stuffed\n-- \nname');
    const spaced = part({ isFlowed: true, deletesSpace: true });
    expect(decodeText(Buffer.from('日 \n本'), spaced)).toBe('日本');
  });

  it('cuts between characters', () => {
    expect(cutText('üü', 3)).toEqual({ value: 'ü', truncated: true });
    expect(cutText('üü', 4)).toEqual({ value: 'üü', truncated: false });
  });
});
