import { expect, test } from 'vitest';
import { mergeDraft, withoutSecrets } from './drafts.ts';

test('what is put aside has no field that may hold a secret, however deep', () => {
  expect(
    withoutSecrets({
      from: 'ada@example.com',
      password: 'x',
      imap: { host: 'imap.example.com', password: 'x', user: 'ada' },
      access_token: 'x',
      apiKey: 'x',
      client_secret: 'x',
      account_number: '1',
      events: ['a', 'b'],
    }),
  ).toEqual({
    from: 'ada@example.com',
    imap: { host: 'imap.example.com', user: 'ada' },
    events: ['a', 'b'],
  });
});

test('a text that stands in a field for secrets is put aside under no name', () => {
  const values = { current: 'what opens the door', name: 'Ada', imap: { user: 'ada', login: 'x' } };
  expect(withoutSecrets(values, new Set(['what opens the door', 'x']))).toEqual({
    name: 'Ada',
    imap: { user: 'ada' },
  });
});

test('a draft comes back over the form, which keeps what the draft has not', () => {
  const form = { from: '', imap: { host: '', port: 993, password: '' }, events: ['a'] };
  expect(mergeDraft(form, { from: 'ada', imap: { host: 'here' }, events: [] })).toEqual({
    from: 'ada',
    imap: { host: 'here', port: 993, password: '' },
    events: [],
  });
});
