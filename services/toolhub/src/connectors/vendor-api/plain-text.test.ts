import { expect, test } from 'vitest';
import { plainText } from './plain-text.ts';

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
])('%s', (html, text) => expect(plainText(html)).toBe(text));
