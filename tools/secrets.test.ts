import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { findSecrets } from './secrets.mjs';

// Put together here, so that this file holds none itself.
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const planted: readonly [string, string][] = [
  ['an API key', `sk_live_${letters}`],
  ['an API key', `sk_test_${letters}`],
  ['a webhook secret', `whsec_${letters}`],
  ['a token of Toolhub', `tho_${letters}`],
  ['a token of Toolhub', `ths_${letters}`],
  ['an admin token', `admin_${letters}`],
  ['a private key', `-----BEGIN ${'EC '}PRIVATE KEY-----`],
  ['a Bearer token', `authorization: ${'Bearer'} ${letters}`],
  ['a password in a URL', `postgres://me:${'pass'}word@db/x`],
  ['a JSON web token', ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', letters].join('.')],
  ['a secret field', `{"password":"${'correct'} horse"}`],
  ['a secret field', `{"account_number":"${'1234'}56789"}`],
];

describe('findSecrets', () => {
  test.each(planted)('%s', (kind, text) => {
    const [found, ...others] = findSecrets(`one\ntwo ${text} three\nfour`);
    expect(found).toMatchObject({ line: 2, kind });
    expect(JSON.stringify([found, ...others])).not.toContain(letters);
  });

  test('a secret that is known, whatever it looks like', () => {
    expect(findSecrets('x\ny 12345678 z', ['12345678'])).toEqual([
      { line: 2, kind: 'a known secret', begins: '1234' },
    ]);
  });

  test('nothing where there is none', () => {
    const text = [
      'sk_test_sandbox is published',
      'Bearer [redacted] and whsec_[redacted], postgres://[redacted]@db/x',
      '{"password":"[redacted]","id":"pay_01m7fstn1q3qx226drdd6gxznp","api_key":null}',
      'https://example.com/a:b@c and the_quick_brown_fox_jumps_over_it',
    ].join('\n');
    expect(findSecrets(text)).toEqual([]);
  });
});

describe('npm run audit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The script with a registry that answers this. */
  function audit(answer: string) {
    writeFileSync(join(folder, 'npm'), `#!/bin/sh\ncat <<'END'\n${answer}\nEND\nexit 1\n`);
    chmodSync(join(folder, 'npm'), 0o755);
    const script = fileURLToPath(new URL('audit.mjs', import.meta.url));
    return spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
    });
  }

  test('fails on a serious hole and names it', () => {
    const vulnerabilities = {
      leaky: { name: 'leaky', severity: 'high', range: '<2' },
      meh: { name: 'meh', severity: 'low', range: '<1' },
    };
    const { status, stderr, stdout } = audit(JSON.stringify({ vulnerabilities }));
    expect([status, stderr, stdout]).toEqual([
      1,
      'audit: leaky <2: high\n',
      'audit: 2 known holes, 1 of them serious\n',
    ]);
  });

  test('passes without one', () => {
    const { status, stdout } = audit(JSON.stringify({ vulnerabilities: {} }));
    expect([status, stdout]).toEqual([0, 'audit: 0 known holes, 0 of them serious\n']);
  });

  test.each(['', 'npm error 405', '{"message":"405 Method Not Allowed","error":{}}'])(
    'fails nothing where the registry does not answer: %s',
    (answer) => {
      const { status, stdout } = audit(answer);
      expect([status, stdout]).toEqual([0, 'audit: NOT RUN, because the registry does not answer audits\n']);
    },
  );
});
