// Where the bank's server is said to be: what can be no place is known at the start, and not when a file shall leave.
import { expect, test } from 'vitest';
import { readSftpPlace, readSftpUrl } from './sftp-place.ts';

test('host, port, user, password and folder', () => {
  expect(readSftpPlace('sftp://house:50%25off@files.bank.example:2222/to%20bank')).toEqual({
    host: 'files.bank.example',
    port: 2222,
    username: 'house',
    password: '50%off',
    folder: '/to bank',
  });
  expect(readSftpPlace('sftp://house@[2001:db8::1]')).toMatchObject({
    host: '2001:db8::1',
    port: 22,
    password: null,
    folder: '',
  });
});

test.each([
  ['of another protocol', 'https://house@bank.example/'],
  ['without a host', 'sftp:///outbox'],
  ['without slashes', 'sftp:house@bank.example'],
  ['without a user', 'sftp://bank.example/'],
  ['with a port that nobody listens on', 'sftp://house@bank.example:0/'],
  ['with a password of which a part reads as an escape', 'sftp://house:50%off@bank.example/'],
  ['with such a user', 'sftp://%zz@bank.example/'],
  ['with such a folder', 'sftp://house@bank.example/50%off'],
  ['with a folder of which a part reads as a fragment', 'sftp://house@bank.example/box#2'],
  ['with one of which a part reads as a query', 'sftp://house@bank.example/box?2'],
])('an address %s is none', (_, text) => {
  expect((readSftpUrl(text) as Error).message).toMatch(/^must be sftp:\/\/user@host/);
});

test('an address is kept as it was given', () => {
  expect(readSftpUrl('sftp://house@bank.example/outbox/')).toBe('sftp://house@bank.example/outbox/');
});
