import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { newPrivateKey } from '../test/sftp-bank.ts';
import { sshKeyFault } from './ssh-key.ts';

const faultOf = (content: string) => sshKeyFault(Buffer.from(content))?.message;

test('a key that the SFTP client can use has no fault', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  expect(faultOf(newPrivateKey())).toBeUndefined();
  expect(faultOf(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())).toBeUndefined();
});

test('one that it cannot use is said to be that, without a word of its content', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const locked = { type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'the secret' } as const;
  const noKey = 'names a file that holds no private key for SSH (OpenSSH, or PEM of RSA or EC)';
  expect(faultOf('')).toBe(noKey);
  expect(faultOf('a key')).toBe(noKey);
  expect(faultOf(newPrivateKey().slice(0, 60))).toBe(noKey);
  // Node reads it; the client does not.
  expect(faultOf(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())).toBe(noKey);
  expect(faultOf(privateKey.export(locked).toString())).toMatch(/^names a private key with a passphrase/);
  expect(faultOf(`ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)} me`)).toMatch(/^names a public key/);
});
