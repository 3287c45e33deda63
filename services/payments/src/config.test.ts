import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SettingsError } from '@libs/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSelfSigned } from '../../../libs/egress/test/self-signed.ts';
import { loadConfig, settingWarnings } from './config.ts';
import { newPrivateKey } from './rails/ach/test/sftp-bank.ts';

const identity = {
  ach: {
    ...{ odfi: '09100001', companyName: 'ACME', companyId: '1234567890', entryDescription: 'PAYMENT' },
    ...{ immediateDestination: '091000019', immediateOrigin: '1234567890' },
    ...{ destinationName: 'FIRST BANK', originName: 'ACME' },
  },
  rtp: {
    ...{ participant: '091000019T1', network: '990000001T1', routingNumber: '091000019' },
    ...{ accountNumber: '5550001', accountName: 'Acme Inc' },
  },
  sponsorRoutingNumbers: ['091000019'],
};
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payments-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function inFile(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function messageFor(env: Record<string, string>): string {
  try {
    loadConfig(env);
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message;
  }
}

describe('settings', () => {
  test('nothing set is a development instance on port 4000 with an embedded database', () => {
    expect(loadConfig({})).toMatchObject({
      development: true,
      role: 'all',
      http: { host: '127.0.0.1', port: 4000, portIsSet: false, publicUrl: 'http://localhost:4000' },
      database: { url: undefined },
      dataDir: '.data',
      encryptionKeys: undefined,
      adminToken: undefined,
      egress: { allow: [], development: true },
      rates: { live: 100, test: 25 },
      sandbox: { on: true, rtpMs: 200, achMs: 2_000 },
      rails: { ach: { sftpUrl: undefined, representments: 0 }, rtp: { gatewayUrl: undefined } },
    });
  });

  test('every setting is read', async () => {
    const pair = makeSelfSigned(['client']);
    const sshKeyPath = await inFile('ssh.pem', newPrivateKey());
    const certificatePath = await inFile('client.crt', pair.cert);
    const keyPath = await inFile('client.key', pair.key);
    const config = loadConfig({
      NODE_ENV: 'production',
      PAYMENTS_ROLE: 'worker',
      PAYMENTS_PORT: '4100',
      PAYMENTS_HOST: '0.0.0.0',
      PAYMENTS_PUBLIC_URL: 'https://pay.example/',
      DATABASE_URL: 'postgres://shared/db',
      PAYMENTS_DATABASE_URL: 'postgres://own/db',
      DATA_DIR: '/srv/data',
      PAYMENTS_ENCRYPTION_KEY: `${Buffer.alloc(32, 1).toString('base64')},${Buffer.alloc(32, 2).toString('base64')}`,
      PAYMENTS_ADMIN_TOKEN: 'a-token-of-the-operator',
      PAYMENTS_EGRESS_ALLOW: 'hooks.internal:8443, 127.0.0.1:9000',
      PAYMENTS_ACH_SFTP_URL: 'sftp://bank@files.bank.example/outbox',
      PAYMENTS_ACH_SFTP_KEY: sshKeyPath,
      PAYMENTS_ACH_SFTP_HOST_KEY: `SHA256:${'a'.repeat(43)}`,
      PAYMENTS_ACH_REPRESENT: '2',
      PAYMENTS_BANK_IDENTITY: await inFile('bank.json', identity),
      PAYMENTS_RTP_GATEWAY_URL: 'https://rtp.bank.example',
      PAYMENTS_RTP_CLIENT_CERT: certificatePath,
      PAYMENTS_RTP_CLIENT_KEY: keyPath,
      PAYMENTS_RATE_LIVE: '0',
      PAYMENTS_RATE_TEST: '7',
      PAYMENTS_SANDBOX: 'off',
      PAYMENTS_SANDBOX_RTP_MS: '0',
      PAYMENTS_SANDBOX_ACH_MS: '3s',
    });
    expect(config).toMatchObject({
      development: false,
      role: 'worker',
      http: { host: '0.0.0.0', port: 4100, portIsSet: true, publicUrl: 'https://pay.example' },
      database: { url: 'postgres://own/db' },
      dataDir: '/srv/data',
      adminToken: 'a-token-of-the-operator',
      egress: { allow: ['hooks.internal:8443', '127.0.0.1:9000'], development: false },
      rates: { live: 0, test: 7 },
      sandbox: { on: false, rtpMs: 0, achMs: 3_000 },
      rails: {
        bank: identity,
        ach: {
          sftpUrl: 'sftp://bank@files.bank.example/outbox',
          keyPath: sshKeyPath,
          representments: 2,
        },
        rtp: { gatewayUrl: 'https://rtp.bank.example', certificatePath, keyPath },
      },
    });
    expect(config.encryptionKeys).toHaveLength(2);
    expect(loadConfig({ DATABASE_URL: 'postgres://shared/db' }).database.url).toBe('postgres://shared/db');
  });

  test('the address of the server itself goes with that of its pooler', () => {
    const direct = { PAYMENTS_DATABASE_DIRECT_URL: 'postgres://server/db' };
    expect(() => loadConfig(direct)).toThrow(/PAYMENTS_DATABASE_DIRECT_URL goes with PAYMENTS_DATABASE_URL/);
    const behind = { ...direct, DATABASE_URL: 'postgres://pooler/db' };
    expect(loadConfig(behind).database).toMatchObject({
      ...{ url: 'postgres://pooler/db', directUrl: 'postgres://server/db', preparedStatements: undefined },
    });
    const able = { ...behind, PAYMENTS_DATABASE_PREPARED_STATEMENTS: 'on' };
    expect(loadConfig(able).database.preparedStatements).toBe(true);
  });

  test('one message names every setting that is wrong, and repeats no value', () => {
    const wrong = {
      PAYMENTS_ROLE: 'boss',
      PAYMENTS_PORT: 'http',
      DATABASE_URL: 'mysql://secret@x/y',
      PAYMENTS_ENCRYPTION_KEY: 'c2VjcmV0',
      PAYMENTS_LOST_ENCRYPTION_KEYS: 'c2VjcmV0',
      PAYMENTS_EGRESS_ALLOW: 'nowhere',
      PAYMENTS_ACH_SFTP_URL: 'https://x',
      PAYMENTS_RTP_GATEWAY_URL: 'http://x',
      PAYMENTS_RATE_TEST: '-1',
      PAYMENTS_SANDBOX_ACH_MS: 'soon',
      MAIL_FROM: 'nobody',
      // These are wrong only beside others, or for what they are used for.
      PAYMENTS_ADMIN_TOKEN: 'with space',
      PAYMENTS_RTP_INBOUND_TOKEN: 'short',
      PAYMENTS_RTP_CLIENT_CERT: fileURLToPath(import.meta.url),
    };
    const message = messageFor(wrong);
    expect(message).toContain('PAYMENTS_BANK_IDENTITY must be set with a live rail');
    for (const name of Object.keys(wrong)) expect(message).toContain(name);
    expect(message).not.toMatch(/c2VjcmV0|secret/);
    // What is set and cannot be read is not said to be missing.
    const pooled = { DATABASE_URL: 'mysql://x/y', DATABASE_DIRECT_URL: 'postgres://x/y' };
    expect(() => loadConfig(pooled)).not.toThrow(/goes with/);
  });

  test('[P-1.1] a misspelled setting is told of, with the one that is meant; what clients and our files read is not', () => {
    expect(settingWarnings({ PAYMENTS_ACH_SFTP_ULR: 'sftp://x', PAYMENTS_PORT: '1' })).toEqual([
      'PAYMENTS_ACH_SFTP_ULR is no setting: is PAYMENTS_ACH_SFTP_URL meant?',
    ]);
    const others = { PAYMENTS_API_KEY: 'x', PAYMENTS_API_URL: 'x', PAYMENTS_CONFIG: 'x' };
    expect(settingWarnings({ ...others, PAYMENTS_DATABASE_PASSWORD: 'x', TOOLHUB_PORT: '1' })).toEqual([]);
  });

  test.each(['10.0.0.256:25', 'a..b:80', '[:::]:80'])(
    'a place that nothing can be is told of beside all other faults: %s',
    (place) => {
      const wrong = { PAYMENTS_PORT: 'x', PAYMENTS_EGRESS_ALLOW: `hooks.example:25, ${place}` };
      expect(messageFor(wrong)).toMatch(/PAYMENTS_PORT .*PAYMENTS_EGRESS_ALLOW .*\(entry 2 is not\)/);
    },
  );

  test.each([
    ['PAYMENTS_ACH_SFTP_URL', 'sftp://house:50%off@bank.example/'],
    ['PAYMENTS_ACH_SFTP_URL', 'sftp:house@bank.example'],
    ['PAYMENTS_RTP_GATEWAY_URL', 'https://house:50%off@gateway.example/rtp'],
    ['SMTP_URL', 'smtp://'],
    ['SMTP_URL', 'smtp:relay.example'],
    ['DATABASE_URL', 'postgres:house'],
  ])('[P-1.1] an address that leads nowhere is told of beside all other faults: %s=%s', (name, address) => {
    const message = messageFor({ PAYMENTS_PORT: 'x', [name]: address });
    expect(message).toMatch(new RegExp(`PAYMENTS_PORT .*${name} must be`));
    expect(message).not.toContain('50%off');
  });

  test('the gateway may ask for a user, whose password is written as in any URL', () => {
    const address = 'https://house:50%25off@gateway.example/rtp';
    const message = messageFor({ PAYMENTS_RTP_GATEWAY_URL: address });
    expect(message).not.toContain('PAYMENTS_RTP_GATEWAY_URL');
  });

  test('a database may listen on a socket', () => {
    const address = 'postgres:///payments?host=/run/postgresql';
    expect(loadConfig({ DATABASE_URL: address }).database.url).toBe(address);
  });

  test('[P-1.1] what is wrong with the bank identity stands in the same message as all other faults', async () => {
    const wrong = { PAYMENTS_PORT: 'http', PAYMENTS_RATE_TEST: '-1', PAYMENTS_ADMIN_TOKEN: 'with space' };
    const { odfi: _, ...ach } = { ...identity.ach, immediateDestination: '091000018' };
    const live = {
      // A bad address of a rail hides nothing of our identity there.
      PAYMENTS_ACH_SFTP_URL: 'https://files.bank.example',
      PAYMENTS_RTP_GATEWAY_URL: 'https://rtp.bank.example',
      PAYMENTS_BANK_IDENTITY: await inFile('half.json', { ach, sponsorRoutingNumbers: ['1'] }),
    };
    const message = messageFor({ ...wrong, ...live });
    for (const name of [...Object.keys(wrong), 'PAYMENTS_ACH_SFTP_URL', 'PAYMENTS_BANK_IDENTITY'])
      expect(message).toContain(name);
    for (const field of ['ach.odfi is missing', 'ach.immediateDestination must', 'sponsorRoutingNumbers[0]'])
      expect(message).toContain(field);
    for (const field of Object.keys(identity.rtp)) expect(message).toContain(`rtp.${field} is missing`);
    expect(message).not.toMatch(/091000018|half\.json|\n/);
  });

  test.each([
    ['is not there', 'missing.json', /PAYMENTS_BANK_IDENTITY names a file that cannot be read \(ENOENT\)/],
    ['is not JSON', 'broken.json', /PAYMENTS_BANK_IDENTITY names a file that is not JSON/],
  ])('[P-1.1] a bank identity that %s stands there, too', async (_what, name, expected) => {
    await inFile('broken.json', '{');
    const message = messageFor({ PAYMENTS_PORT: 'http', PAYMENTS_BANK_IDENTITY: join(folder, name) });
    expect(message).toMatch(/PAYMENTS_PORT/);
    expect(message).toMatch(expected);
  });

  test('keys and certificates that cannot be read are named, each', () => {
    const paths = {
      PAYMENTS_ACH_SFTP_KEY: join(folder, 'no-key'),
      PAYMENTS_RTP_CLIENT_CERT: join(folder, 'no-certificate'),
      PAYMENTS_RTP_CLIENT_KEY: folder,
      PAYMENTS_RTP_CA: join(folder, 'no-authority'),
    };
    const message = messageFor(paths);
    for (const name of Object.keys(paths))
      expect(message).toMatch(new RegExp(`${name} names a file that cannot be read \\((ENOENT|EISDIR)\\)`));
    expect(message).not.toContain('must be set together');
  });

  test('keys and certificates that hold something else are named, each, without their content', async () => {
    const words = await inFile('words', 'the secret');
    const wrong = {
      PAYMENTS_PORT: 'http',
      PAYMENTS_ACH_SFTP_KEY: words,
      PAYMENTS_RTP_CLIENT_CERT: words,
      PAYMENTS_RTP_CLIENT_KEY: words,
      PAYMENTS_RTP_CA: words,
    };
    const message = messageFor(wrong);
    for (const name of Object.keys(wrong)) expect(message).toContain(name);
    expect(message.match(/names a file that holds no/g)).toHaveLength(4);
    expect(message).not.toMatch(/secret|words/);
  });

  test('a certificate and the key of another are named together', async () => {
    const [one, other] = [makeSelfSigned(['one']), makeSelfSigned(['other'])];
    const message = messageFor({
      PAYMENTS_RTP_CLIENT_CERT: await inFile('one.crt', one.cert),
      PAYMENTS_RTP_CLIENT_KEY: await inFile('other.key', other.key),
      PAYMENTS_RTP_CA: await inFile('other.crt', other.cert),
    });
    expect(message).toBe(
      'bad settings: PAYMENTS_RTP_CLIENT_KEY is not the key of the first certificate in PAYMENTS_RTP_CLIENT_CERT',
    );
  });

  test('a certificate that has expired stops no start, and is known to have', async () => {
    const endsAt = new Date('2024-02-03T04:05:06Z');
    const { cert } = makeSelfSigned(['late'], { endsAt });
    const { rails } = loadConfig({ PAYMENTS_RTP_CA: await inFile('late.crt', cert) });
    expect(rails.certificates).toMatchObject([{ setting: 'PAYMENTS_RTP_CA', endsAt }]);
  });

  test('what a live rail needs in production is missed beside its bad address, too', () => {
    const rails = { PAYMENTS_ACH_SFTP_URL: 'https://x', PAYMENTS_RTP_GATEWAY_URL: 'http://x' };
    const message = messageFor({ NODE_ENV: 'production', ...rails });
    expect(message).toContain('PAYMENTS_ACH_SFTP_HOST_KEY must be set');
    expect(message).toContain('PAYMENTS_RTP_CLIENT_CERT must be set');
  });

  test("the bank's host key is a fingerprint, as ssh-keygen prints it", () => {
    const fingerprint = `SHA256:${'A/+9'.repeat(10)}abc`;
    for (const good of [fingerprint, `${fingerprint}=`])
      expect(() => loadConfig({ PAYMENTS_ACH_SFTP_HOST_KEY: good })).not.toThrow();
    for (const bad of [
      'SHA256:abc',
      `MD5:${'0:'.repeat(16)}`,
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5',
      `${fingerprint}x`,
    ])
      expect(messageFor({ PAYMENTS_ACH_SFTP_HOST_KEY: bad })).toContain('PAYMENTS_ACH_SFTP_HOST_KEY must be');
  });

  test('the public address has no path, which no page would be found under', () => {
    expect(loadConfig({ PAYMENTS_PUBLIC_URL: 'https://Pay.example:443/' }).http.publicUrl).toBe(
      'https://pay.example',
    );
    expect(() => loadConfig({ PAYMENTS_PUBLIC_URL: 'https://pay.example/base' })).toThrow(
      /PAYMENTS_PUBLIC_URL must be an http or https address without path/,
    );
  });

  test('/metrics is open in development, and in production only with a token', () => {
    const token = 'a-token-for-metrics';
    const production = { NODE_ENV: 'production', PAYMENTS_PUBLIC_URL: 'https://pay.example.com' };
    expect(loadConfig({}).metricsAccess).toBe('open');
    expect(loadConfig(production).metricsAccess).toBe('closed');
    expect(loadConfig({ ...production, PAYMENTS_METRICS_TOKEN: token }).metricsAccess).toEqual({ token });
    for (const useless of ['short', 'a token for metrics'])
      expect(() => loadConfig({ PAYMENTS_METRICS_TOKEN: useless })).toThrow(/PAYMENTS_METRICS_TOKEN must be/);
  });

  test('settings that do not go together are named, too', async () => {
    const alone = await inFile('alone.crt', makeSelfSigned(['alone']).cert);
    expect(() => loadConfig({ PAYMENTS_RTP_CLIENT_CERT: alone })).toThrow(/PAYMENTS_RTP_CLIENT_KEY/);
    expect(() => loadConfig({ PAYMENTS_ADMIN_TOKEN: 'with space' })).toThrow(/PAYMENTS_ADMIN_TOKEN/);
    expect(() => loadConfig({ NODE_ENV: 'production', PAYMENTS_ADMIN_TOKEN: 'short' })).toThrow(/16/);
    expect(loadConfig({ PAYMENTS_ADMIN_TOKEN: 'short' }).adminToken).toBe('short');
  });
});
