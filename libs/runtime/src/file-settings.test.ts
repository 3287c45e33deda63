import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { makeSelfSigned } from '../../egress/test/self-signed.ts';
import { loadSettings, SettingsError, settings } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'file-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

function inFile(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('files', () => {
  const files = { path: settings.pathOfFile('APP_FILE'), json: settings.jsonFile('APP_JSON') };
  const here = fileURLToPath(import.meta.url);
  const manifest = fileURLToPath(new URL('../package.json', import.meta.url));

  test('are read: the path of one, what another holds', () => {
    expect(loadSettings({ APP_FILE: here, APP_JSON: manifest }, files)).toMatchObject({
      path: here,
      json: { name: '@libs/runtime' },
    });
  });

  test('that cannot be read or are not JSON are named, without their path', () => {
    expect(() => loadSettings({ APP_FILE: `${here}.no`, APP_JSON: here }, files)).toThrow(
      new SettingsError([
        'APP_FILE names a file that cannot be read (ENOENT)',
        'APP_JSON names a file that is not JSON',
      ]),
    );
  });
});

describe('PEM files', () => {
  const pair = makeSelfSigned(['first']);
  const other = makeSelfSigned(['second']);
  const spec = {
    certificates: settings.certificates('APP_CERT', { optional: true }),
    key: settings.privateKey('APP_KEY', { optional: true }),
  };
  const problemsOf = (env: Record<string, string>) => {
    try {
      loadSettings(env, spec);
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError);
      return (error as SettingsError).problems;
    }
  };

  test('give the certificates in their order, whatever stands between them, and the key', () => {
    const path = inFile('chain.pem', `${pair.key}Subject: first\r\n${pair.cert}\n\n${other.cert}`);
    const { certificates, key } = loadSettings({ APP_CERT: path, APP_KEY: path }, spec);
    expect(certificates?.path).toBe(path);
    expect(certificates?.certificates.map(({ subject }) => subject)).toEqual(['CN=first', 'CN=second']);
    expect(certificates?.certificates[0].checkPrivateKey(key?.key as never)).toBe(true);
    expect(certificates?.certificates[1]?.checkPrivateKey(key?.key as never)).toBe(false);
  });

  test('without a certificate, with a broken one, and with one that was cut are refused', () => {
    const broken = pair.cert.replace(/\n.{40}/, `\n${'A'.repeat(40)}`);
    const refused = (content: string) => problemsOf({ APP_CERT: inFile('refused.pem', content) });
    expect(refused('')).toEqual(['APP_CERT names a file that holds no certificate in PEM']);
    expect(refused(pair.key)).toEqual(['APP_CERT names a file that holds no certificate in PEM']);
    expect(refused(broken)).toEqual(['APP_CERT names a file with a certificate that is broken']);
    expect(refused(pair.cert.slice(0, -60))).toEqual([
      'APP_CERT names a file with a certificate that is broken',
    ]);
    expect(refused(pair.cert + broken)).toEqual([
      'APP_CERT names a file with a certificate that is broken (number 2)',
    ]);
  });

  test('without a private key, or with one that needs a passphrase, are refused', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const locked = (type: 'pkcs8' | 'sec1') =>
      privateKey.export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'the secret' }).toString();
    const refused = (content: string) => problemsOf({ APP_KEY: inFile('refused.pem', content) });
    const none = ['APP_KEY names a file that holds no private key in PEM, or a broken one'];
    expect(refused('')).toEqual(none);
    expect(refused(pair.cert)).toEqual(none);
    expect(refused(publicKey.export({ type: 'spki', format: 'pem' }).toString())).toEqual(none);
    expect(refused(pair.key.slice(0, 80))).toEqual(none);
    for (const type of ['pkcs8', 'sec1'] as const)
      expect(refused(locked(type))).toEqual([
        'APP_KEY names a private key with a passphrase, which nobody could enter here',
      ]);
  });
});
