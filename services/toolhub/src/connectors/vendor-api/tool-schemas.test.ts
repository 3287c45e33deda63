import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { mediaUrl } from './tool-schemas.ts';

const check = Compile(mediaUrl('A file.'));

test.each([
  'https://medium.com/@ada/post-1',
  'https://cdn.example.com/logo@2x.png',
  'https://example.com?to=a@b.test',
  'https://example.com:8443/a#@b',
  `https://example.com/${'a'.repeat(2_028)}`,
])('%s is an address that a vendor can fetch', (url) => {
  expect(check.Check(url)).toBe(true);
});

test.each([
  'https://user@example.com/a.png',
  'https://user:secret@example.com',
  'https://example.com:443@evil.test/',
  'https://example.com\\@evil.test/',
  'https:///example.com/a.png',
  'https://example.com/a b',
  'http://example.com/a.png',
  `https://example.com/${'a'.repeat(2_029)}`,
])('%s is not', (url) => {
  expect(check.Check(url)).toBe(false);
});
