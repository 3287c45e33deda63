import { expect, test } from 'vitest';
import type { Config } from './config.ts';
import { welcome } from './welcome.ts';

const config = (development: boolean, smtpUrl?: string) =>
  ({
    ...{ development, dataDir: '/somewhere', mail: { smtpUrl } },
    server: { publicUrl: 'http://localhost:4100' },
    secrets: { adminToken: 'of-the-operator', internalTokens: [{ name: 'default', token: 'of-us' }] },
  }) as unknown as Config;

test('the start says which page to open, what to paste first, and what that will show', () => {
  const text = welcome(config(true));
  expect(text).toContain('open this     http://localhost:4100\n');
  expect(text).toContain('curl -sS http://localhost:4100/mcp');
  expect(text).toContain('It answers with the tools');
});

test('where no server sends mail, the start says in which folder it lies', () => {
  expect(welcome(config(true))).toContain('  mail          /somewhere/mail\n');
  expect(welcome(config(true, 'smtp://localhost:25'))).not.toContain('/mail');
});

test('in production it shows no secret', () => {
  const text = welcome(config(false));
  expect(text).toContain('http://localhost:4100/mcp');
  expect(text).not.toMatch(/of-the-operator|of-us/);
});
