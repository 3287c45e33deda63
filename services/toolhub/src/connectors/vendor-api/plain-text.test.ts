import { longestTurnMs } from '@libs/runtime/testing';
import { expect, test } from 'vitest';
import { createPostReader } from './plain-text.ts';

const LONGEST = 64 * 1024;

test.each([
  ['<p>Hello</p><p>world<br />again</p>', 'Hello\n\nworld\nagain'],
  ['<p>a &lt;b&gt; &amp; &#39;c&#39; &#x1F600;</p>', "a <b> & 'c' 😀"],
  [
    '<p>See <a href="https://example.com/long"><span class="invisible">https://</span><span class="ellipsis">example.com/l</span><span class="invisible">ong</span></a></p>',
    'See https://example.com/long',
  ],
  ['<p>List:</p><ul><li>one</li><li>two</li></ul><p>end</p>', 'List:\n• one\n• two\nend'],
  ['<blockquote><p>said</p></blockquote><p>answer</p>', 'said\n\nanswer'],
  ['&#0;&#xd800;&unknown; 1 < 2', '&unknown; 1 < 2'],
])('%s', async (html, text) => expect(await createPostReader()(html)).toBe(text));

test('of a post that is far too long only the beginning is looked at, and it says so', async () => {
  const read = createPostReader();
  expect(await read('&lt;'.repeat(2 * 1024 * 1024))).toBe(`${'<'.repeat(LONGEST / 4)}…`);
  expect(await read(`${'a'.repeat(LONGEST - 1)}😀`)).toBe(`${'a'.repeat(LONGEST - 1)}\ufffd…`);
  expect(await read('a'.repeat(LONGEST))).toBe('a'.repeat(LONGEST));
});

test('the posts of one answer share a turn, and long ones take several', async () => {
  let turns = 1;
  const read = createPostReader(async () => {
    turns += 1;
  });
  for (let post = 0; post < 40; post += 1) await read('<p>short</p>');
  expect(turns).toBe(1);
  for (let post = 0; post < 40; post += 1) await read('&lt;'.repeat(LONGEST));
  expect(turns).toBe(41);
});

test('[TH-13.14] answers that arrive together are read one after the other', async () => {
  const post = '&lt;'.repeat(LONGEST);
  const readAnswer = async () => {
    const read = createPostReader();
    for (let posts = 0; posts < 3; posts += 1) await read(post);
  };
  const readAll = () => Promise.all(Array.from({ length: 60 }, readAnswer));
  expect(await longestTurnMs(readAll)).toBeLessThan(100);
});
