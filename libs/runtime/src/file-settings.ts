import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SettingReader } from './setting-reader.ts';

export interface CertificatesFile {
  readonly path: string;
  /** In the order of the file. */
  readonly certificates: readonly [X509Certificate, ...X509Certificate[]];
}

export interface PrivateKeyFile {
  readonly path: string;
  readonly key: KeyObject;
}

export function unreadable(error: unknown): Error {
  return new Error(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
}

/** The content is for `take` alone: no message repeats any of it. */
function withContent<T>(take: (content: Buffer, path: string) => T | Error): SettingReader<T> {
  return (path) => {
    let content: Buffer;
    try {
      content = readFileSync(path);
    } catch (error) {
      return unreadable(error);
    }
    return take(content, path);
  };
}

export function readPathOfFile({
  faultOf,
}: {
  /** What is wrong with the content, as an Error whose message completes "NAME …". */
  faultOf?: (content: Buffer) => Error | undefined;
}): SettingReader<string> {
  return withContent((content, path) => faultOf?.(content) ?? path);
}

const CERTIFICATE =
  /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[A-Za-z0-9+/=\s]*-----END \1-----|-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/g;

export function readCertificates(): SettingReader<CertificatesFile> {
  return withContent((content, path) => {
    const blocks = [...content.toString('latin1').matchAll(CERTIFICATE)];
    const certificates: X509Certificate[] = [];
    for (const [index, [block]] of blocks.entries()) {
      try {
        certificates.push(new X509Certificate(block));
      } catch {
        const which = blocks.length > 1 ? ` (number ${index + 1})` : '';
        return new Error(`names a file with a certificate that is broken${which}`);
      }
    }
    const [first, ...others] = certificates;
    if (first === undefined) return new Error('names a file that holds no certificate in PEM');
    return { path, certificates: [first, ...others] };
  });
}

export function readPrivateKey(): SettingReader<PrivateKeyFile> {
  return withContent((content, path) => {
    try {
      return { path, key: createPrivateKey(content) };
    } catch {
      // OpenSSL says it in other words for each format.
      const isLocked = /^(?:-----BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED)/m;
      return new Error(
        isLocked.test(content.toString('latin1'))
          ? 'names a private key with a passphrase, which nobody could enter here'
          : 'names a file that holds no private key in PEM, or a broken one',
      );
    }
  });
}
