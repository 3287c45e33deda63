import { describe, expect, test } from 'vitest';
import { parseAddress, sameAddress } from './addresses.ts';
import { composeMail } from './sending/compose.ts';

const mail = {
  from: 'me@example.com',
  to: ['you@example.com'],
  subject: 's',
  text: 't',
  date: new Date(0),
  newMessageId: () => '<id@example.com>',
};

describe('one mailbox', () => {
  test.each([
    ['a@example.com', '', 'a@example.com'],
    [' <a@example.com> ', '', 'a@example.com'],
    ['Ada Lovelace <a@example.com>', 'Ada Lovelace', 'a@example.com'],
    ['J. Doe (Sales) <a@example.com>', 'J. Doe (Sales)', 'a@example.com'],
    ['"Doe, \\"J\\" <x@y.test>" <a@example.com>', 'Doe, "J" <x@y.test>', 'a@example.com'],
    ['Doe, John <a@example.com>', 'Doe, John', 'a@example.com'],
    ['Team @ Example <a@example.com>', 'Team @ Example', 'a@example.com'],
    ['A@example.com <a@example.com>', 'A@example.com', 'a@example.com'],
  ])('%j is taken', (entry, name, address) => {
    expect(parseAddress(entry)).toEqual({ name, address });
  });
});

test('a domain beyond ASCII is the same in either form, and stands in headers as ASCII', () => {
  for (const other of ['Ada@münchen.de', 'ada@MÜNCHEN.de', 'ada@xn--mnchen-3ya.de'])
    expect(sameAddress('ada@münchen.de', other), other).toBe(true);
  for (const other of ['ada@munchen.de', 'äda@münchen.de', 'ada', ''])
    expect(sameAddress('ada@münchen.de', other), other).toBe(false);
  const newMessageId = (domain: string) => `<id@${domain}>`;
  for (const [from, messageId] of [
    ['Ada <ada@München.de>', '<id@xn--mnchen-3ya.de>'],
    ['ada@a_b.example', '<id@a_b.example>'],
  ] as const)
    expect(composeMail({ ...mail, from, newMessageId }).messageId).toBe(messageId);
});

describe('what is not exactly one mailbox', () => {
  test.each([
    'john doe@example.com',
    'a@b.test c@d.test',
    '<a@b.test> <c@d.test>',
    'Name <a@b.test> c@d.test',
    'c@d.test Name <a@b.test>',
    '"Name" a@b.test',
    'Name <john doe@b.test>',
    'c@d.test, John <a@b.test>',
    'Team: Doe <a@b.test>;',
    'a@b.test (Name',
    '"Name <a@b.test>',
  ])('%j is sent to nobody, and from nobody', (entry) => {
    expect(parseAddress(entry)).toBeUndefined();
    for (const field of ['to', 'cc', 'bcc'])
      expect(() => composeMail({ ...mail, [field]: [entry] })).toThrow(
        `${field}[0] is not one e-mail address`,
      );
    expect(() => composeMail({ ...mail, from: entry })).toThrow('the sender of this account is not');
  });
});
