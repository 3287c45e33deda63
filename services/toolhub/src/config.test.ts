// The settings: defaults, secrets made once, and one message for all mistakes.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Config, loadConfig, settingWarnings } from './config.ts';
import { createConnectors } from './connectors/index.ts';

const connectors = createConnectors();
const load = (env: Record<string, string>): Promise<Config> => loadConfig(env, connectors);

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolhub-config-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('[TH-1.1] an empty environment gives the documented defaults', async () => {
  const config = await loadConfig({ DATA_DIR: folder }, connectors);
  expect(config).toMatchObject({
    development: true,
    server: { host: '127.0.0.1', port: 4100, publicUrl: 'http://localhost:4100' },
    databaseUrl: undefined,
    databaseDirectUrl: undefined,
    preparedStatements: undefined,
    internalAccounts: {},
    mail: { smtpUrl: undefined },
    egressAllow: [],
    rate: { callsPerSecond: 20, addressPerMinute: 30 },
    connectorUrls: {},
    inbound: { slackSigningSecret: undefined, discordPublicKeys: undefined },
    whatsapp: { appSecret: undefined, verifyToken: undefined },
  });
});

test('[TH-1.3] secrets are made once under the data folder, for this user alone', async () => {
  const [first, second] = await Promise.all([
    loadConfig({ DATA_DIR: folder }, connectors),
    loadConfig({ DATA_DIR: folder }, connectors),
  ]);
  expect(second.secrets).toEqual(first.secrets);
  expect(first.secrets.encryptionKeys[0]).toHaveLength(32);
  expect(first.secrets.adminToken).toMatch(/^tha_[A-Za-z0-9]{43}$/);
  expect(first.secrets.internalTokens).toHaveLength(1);
  const path = join(folder, 'toolhub', 'admin-token');
  expect((await readFile(path, 'utf8')).trim()).toBe(first.secrets.adminToken);
  expect((await stat(path)).mode & 0o077).toBe(0);
});

test('[TH-1] a key in the data folder that is none ends the start with its place; a list of keys is one', async () => {
  const damaged = join(folder, 'damaged');
  const path = join(damaged, 'toolhub', 'encryption-key');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'half a key\n');
  await expect(loadConfig({ DATA_DIR: damaged }, connectors)).rejects.toThrow(
    `${path} is not an encryption key: key 1 of 1 is not 32 bytes in base64`,
  );
  const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  await writeFile(path, keys.map((key) => key.toString('base64')).join());
  expect((await loadConfig({ DATA_DIR: damaged }, connectors)).secrets.encryptionKeys).toEqual(keys);
});

test('[TH-1] given secrets are used, and the data folder is left alone', async () => {
  const keys = [randomBytes(32), randomBytes(32)];
  const config = await load({
    DATA_DIR: join(folder, 'untouched'),
    NODE_ENV: 'production',
    TOOLHUB_ENCRYPTION_KEY: keys.map((key) => key.toString('base64')).join(','),
    TOOLHUB_ADMIN_TOKEN: 'an-admin-token-of-length',
    TOOLHUB_INTERNAL_TOKENS: 'a:token-number-one,b:token-number-two',
    TOOLHUB_DATABASE_URL: 'postgres://one/db',
    DATABASE_URL: 'postgres://two/db',
    TOOLHUB_CONNECTOR_TELEGRAM_URL: 'http://127.0.0.1:9/',
    TOOLHUB_PUBLIC_URL: 'https://hub.example.com/',
  });
  expect(config.secrets.encryptionKeys).toEqual(keys);
  expect(config.secrets.internalTokens).toEqual([
    { name: 'a', token: 'token-number-one' },
    { name: 'b', token: 'token-number-two' },
  ]);
  expect(config.development).toBe(false);
  expect(config.databaseUrl).toBe('postgres://one/db');
  expect(config.connectorUrls).toEqual({ telegram: 'http://127.0.0.1:9' });
  expect(config.server.publicUrl).toBe('https://hub.example.com');
  await expect(stat(join(folder, 'untouched'))).rejects.toThrow('ENOENT');
});

test('the address of the server itself goes with that of its pooler', async () => {
  const direct = { DATA_DIR: folder, TOOLHUB_DATABASE_DIRECT_URL: 'postgres://server/db' };
  await expect(loadConfig(direct, connectors)).rejects.toThrow(/TOOLHUB_DATABASE_DIRECT_URL goes with/);
  const behind = { ...direct, DATABASE_URL: 'postgres://pooler/db', DATABASE_PREPARED_STATEMENTS: 'off' };
  expect(await loadConfig(behind, connectors)).toMatchObject({
    ...{ databaseUrl: 'postgres://pooler/db', databaseDirectUrl: 'postgres://server/db' },
    preparedStatements: false,
  });
});

test('[TH-1.2] every bad setting is named in one message, and no value is repeated', async () => {
  const env = {
    DATA_DIR: folder,
    TOOLHUB_PORT: '70000',
    TOOLHUB_PUBLIC_URL: 'https://user:hunter2@hub.example.com/path',
    DATABASE_URL: 'mysql://secret-host/db',
    TOOLHUB_ENCRYPTION_KEY: 'c2hvcnQ=',
    TOOLHUB_LOST_ENCRYPTION_KEYS: 'c2hvcnQ=',
    TOOLHUB_ADMIN_TOKEN: 'hunter2',
    TOOLHUB_INTERNAL_TOKENS: 'nocolon',
    TOOLHUB_INTERNAL_ACCOUNTS: join(folder, 'missing.json'),
    SMTP_URL: 'http://mail',
    MAIL_FROM: 'the billing department',
    TOOLHUB_EGRESS_ALLOW: 'nohostport',
    TOOLHUB_RATE: '-1',
    TOOLHUB_RATE_ADDRESS: 'many',
    TOOLHUB_TRUST_PROXY: 'the one in front',
    TOOLHUB_CONNECTOR_FAX_URL: 'http://x',
    TOOLHUB_CONNECTOR_SLACK_URL: 'not a url',
    TOOLHUB_LOG_LEVEL: 'loud',
    TOOLHUB_OAUTH_FAX_CLIENT_ID: 'x',
    TOOLHUB_OAUTH_GOOGLE_CLIENT_SECRET: 'hunter2',
    TOOLHUB_OAUTH_SLACK_CLIENT_ID: 'x',
    TOOLHUB_OAUTH_SLACK_TOKEN_URL: 'not a url',
    TOOLHUB_OAUTH_SLACK_COLOUR: 'red',
  };
  const message = await loadConfig(env, connectors).then(
    () => '',
    (error: Error) => error.message,
  );
  const fine = ['DATA_DIR', 'TOOLHUB_OAUTH_GOOGLE_CLIENT_SECRET', 'TOOLHUB_OAUTH_SLACK_CLIENT_ID'];
  for (const name of Object.keys(env).filter((key) => !fine.includes(key))) expect(message).toContain(name);
  expect(message).toContain('TOOLHUB_OAUTH_GOOGLE_CLIENT_ID is missing');
  expect(message).not.toMatch(/hunter2|secret-host|nohostport/);
  expect(message).not.toContain('\n');
});

test('[TH-1.2] a misspelled setting is told of, with the one that is meant; those of platforms are known', () => {
  const misspelled = { TOOLHUB_PUBLC_URL: 'x', TOOLHUB_CONECTOR_SLACK_URL: 'x', WHATSAPP_APP_SECRT: 'x' };
  expect(settingWarnings(misspelled, connectors)).toEqual([
    'TOOLHUB_PUBLC_URL is no setting: is TOOLHUB_PUBLIC_URL meant?',
    'TOOLHUB_CONECTOR_SLACK_URL is no setting: is TOOLHUB_CONNECTOR_SLACK_URL meant?',
    'WHATSAPP_APP_SECRT is no setting; WHATSAPP_APP_SECRET is, and is not set',
  ]);
  const platforms = { TOOLHUB_CONNECTOR_SLACK_URL: 'x', TOOLHUB_OAUTH_GOOGLE_CLIENT_ID: 'x' };
  expect(settingWarnings({ ...platforms, TOOLHUB_TOKEN: 'x', PAYMENTS_PORT: '1' }, connectors)).toEqual([]);
});

test.each(['10.0.0.256:25', 'a..b:80', '[:::]:80'])(
  'a place that nothing can be is told of beside all other faults: %s',
  (place) =>
    expect(
      load({ DATA_DIR: folder, TOOLHUB_PORT: 'x', TOOLHUB_EGRESS_ALLOW: `mail.example:25, ${place}` }),
    ).rejects.toThrow(/TOOLHUB_PORT .*TOOLHUB_EGRESS_ALLOW .*\(entry 2 is not\)/),
);

test('[TH-1.2] internal tokens that could be guessed stop the start', async () => {
  const given = (tokens: string) => load({ DATA_DIR: folder, TOOLHUB_INTERNAL_TOKENS: tokens });
  await expect(given('a:only-15-letters')).rejects.toThrow(/TOOLHUB_INTERNAL_TOKENS.*16 or more characters/);
  await expect(given('a:long-enough-token,b:short')).rejects.toThrow(/entry 2/);
  expect((await given('a:sixteen-letters!')).secrets.internalTokens).toHaveLength(1);
});

test('[TH-10.4] /metrics is open in development, and in production only with a token', async () => {
  const accessWith = async (env: Record<string, string>) =>
    (await load({ DATA_DIR: folder, ...env })).metricsAccess;
  const production = { NODE_ENV: 'production', TOOLHUB_PUBLIC_URL: 'https://hub.example.com' };
  const token = 'a-token-for-metrics';
  expect(await accessWith({})).toBe('open');
  expect(await accessWith(production)).toBe('closed');
  expect(await accessWith({ ...production, TOOLHUB_METRICS_TOKEN: token })).toEqual({ token });
  expect(await accessWith({ TOOLHUB_METRICS_TOKEN: token })).toEqual({ token });
  await expect(accessWith({ TOOLHUB_METRICS_TOKEN: 'short' })).rejects.toThrow(/TOOLHUB_METRICS_TOKEN/);
});

test.each([
  ['not JSON', '{'],
  ['a list', '[]'],
  ['an unknown platform', '{"fax":{}}'],
  ['an account that is no object', '{"email":{"office":1}}'],
])('[TH-1] a file of internal accounts that holds %s is refused', async (_name, text) => {
  const path = join(folder, 'accounts.json');
  await writeFile(path, text);
  await expect(loadConfig({ DATA_DIR: folder, TOOLHUB_INTERNAL_ACCOUNTS: path }, connectors)).rejects.toThrow(
    /TOOLHUB_INTERNAL_ACCOUNTS names a file/,
  );
});

test('[TH-1.2] what is wrong with internal accounts stands in the same message as all other faults', async () => {
  const path = join(folder, 'accounts.json');
  const accounts = {
    fax: {},
    email: { office: 1 },
    slack: [],
    telegram: { office: {}, home: { x: 'hunter2' } },
    mastodon: { office: { instance_url: 'https://a.example:99999', access_token: 'hunter2' } },
  };
  await writeFile(path, JSON.stringify(accounts));
  const message = await load({
    DATA_DIR: folder,
    TOOLHUB_PORT: 'x',
    TOOLHUB_CONNECTOR_FAX_URL: 'http://x',
    TOOLHUB_DATABASE_DIRECT_URL: 'postgres://server/db',
    TOOLHUB_INTERNAL_ACCOUNTS: path,
  }).then(
    () => '',
    (error: Error) => error.message,
  );
  for (const name of ['TOOLHUB_PORT', 'TOOLHUB_CONNECTOR_FAX_URL', 'TOOLHUB_DATABASE_DIRECT_URL goes with'])
    expect(message).toContain(name);
  expect(message).toContain('TOOLHUB_INTERNAL_ACCOUNTS names a file with faults');
  for (const fault of [
    'platform fax',
    '"email"',
    '"slack"',
    'telegram/office',
    'telegram/home',
    'mastodon/office',
  ])
    expect(message).toContain(fault);
  expect(message).not.toContain('hunter2');
});

test('[TH-1.4] internal accounts are read', async () => {
  const path = join(folder, 'accounts.json');
  await writeFile(
    path,
    JSON.stringify({ telegram: { office: { bot_token: '42:abcdefghijklmnopqrstuvwxyz0123456789' } } }),
  );
  const { internalAccounts } = await loadConfig(
    { DATA_DIR: folder, TOOLHUB_INTERNAL_ACCOUNTS: path },
    connectors,
  );
  expect(internalAccounts).toEqual({
    telegram: { office: { bot_token: '42:abcdefghijklmnopqrstuvwxyz0123456789' } },
  });
});

test('[TH-6] registrations at vendors are read', async () => {
  const { oauthClients } = await load({
    DATA_DIR: folder,
    TOOLHUB_OAUTH_GOOGLE_CLIENT_ID: 'g',
    TOOLHUB_OAUTH_GOOGLE_CLIENT_SECRET: 's',
    TOOLHUB_OAUTH_MICROSOFT_CLIENT_ID: 'm',
    TOOLHUB_OAUTH_MICROSOFT_TOKEN_URL: 'https://login.example/tenant/token',
  });
  expect(oauthClients).toEqual({
    google: { clientId: 'g', clientSecret: 's', authorizeUrl: null, tokenUrl: null },
    microsoft: {
      clientId: 'm',
      clientSecret: null,
      authorizeUrl: null,
      tokenUrl: 'https://login.example/tenant/token',
    },
  });
});
