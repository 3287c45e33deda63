import { expect, test } from 'vitest';
import { changesOf } from './changes.ts';

test('what was changed are the fields that hold another value, whatever holds them', () => {
  const begun = { url: 'https://a.test', events: ['a'], imap: { host: 'here', port: 993 } };
  expect(changesOf(begun, structuredClone(begun))).toEqual({});
  expect(changesOf(begun, { ...begun, events: ['a', 'b'] })).toEqual({ events: ['a', 'b'] });
  expect(changesOf(begun, { ...begun, url: '', imap: { host: 'here', port: 143 } })).toEqual({
    url: '',
    imap: { host: 'here', port: 143 },
  });
});
