import { expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { welcome } from './welcome.ts';

const started = { address: 'http://127.0.0.1:4000', adminToken: 'a-token-of-the-operator' };

test('the start says which page to open, what to paste first, and what that will show', () => {
  const text = welcome(loadConfig({}), started);
  expect(text).toContain('http://localhost:4000/docs/first-payment');
  expect(text).toContain('curl -sS http://localhost:4000/v1/payments');
  expect(text).toContain('"status":"pending"');
});

test('where no server sends mail, the start says in which folder it lies', () => {
  const linesOf = (env: Record<string, string>) => welcome(loadConfig(env), started);
  expect(linesOf({ DATA_DIR: '/somewhere' })).toContain('  mail        /somewhere/mail\n');
  expect(linesOf({ SMTP_URL: 'smtp://localhost:25' })).not.toContain('  mail ');
});

test('in production it is one line without a secret', () => {
  const text = welcome(loadConfig({ NODE_ENV: 'production' }), started);
  expect(text.trim().split('\n')).toHaveLength(1);
  expect(text).not.toContain(started.adminToken);
});
