import { createRequire } from 'node:module';

/**
 * What is wrong with our key for the bank's server. The library that connects judges it: it reads fewer formats than
 * Node does. Loaded only where a key is set, for the sake of every other start.
 */
export function sshKeyFault(content: Buffer): Error | undefined {
  // From where the SFTP client stands, so that both are one and the same library.
  const client = createRequire(import.meta.url).resolve('ssh2-sftp-client');
  const { utils } = createRequire(client)('ssh2') as typeof import('ssh2');
  const parsed = utils.parseKey(content);
  if (parsed instanceof Error) {
    return new Error(
      /passphrase/.test(parsed.message)
        ? 'names a private key with a passphrase, which nobody could enter here'
        : 'names a file that holds no private key for SSH (OpenSSH, or PEM of RSA or EC)',
    );
  }
  const [key] = [parsed].flat();
  return (key?.getPrivatePEM() ?? null) === null
    ? new Error('names a public key, where the private one is needed')
    : undefined;
}
