import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { allowProblems } from '@libs/egress';
import type { MetricsAccess } from '@libs/http';
import {
  type Env,
  type LogLevel,
  loadSettings,
  type NamedToken,
  type Settings,
  StartError,
  settings,
  unknownSettings,
} from '@libs/runtime';
import { loadOrCreateSecretFile, newToken, parseKeyIds, parseSealKeys, SEAL_KEY_BYTES } from '@libs/seal';
import { OAUTH_FIELDS, readOAuthClients } from './connect/settings.ts';
import type { Connector, OAuthClient } from './connectors/connector.ts';
import { settingNames } from './connectors/index.ts';
import { InternalAccountsError, readInternalAccounts } from './credentials/internal-accounts.ts';

/** The operator's own accounts: platform → account name → credential, as customers store them. */
export type InternalAccountSettings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Config {
  readonly development: boolean;
  readonly metricsAccess: MetricsAccess;
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly publicUrl: string;
    readonly trustProxy: readonly string[] | undefined;
    readonly logLevel: LogLevel;
  };
  /** Undefined: the embedded server under `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** The server itself where `databaseUrl` leads to a pooler. */
  readonly databaseDirectUrl: string | undefined;
  /** Undefined: yes, but not behind a pooler. */
  readonly preparedStatements: boolean | undefined;
  readonly statementTimeoutMs: number;
  readonly dataDir: string;
  readonly secrets: {
    readonly encryptionKeys: readonly Buffer[];
    /** Ids of keys that are lost for good, so that what they sealed does not stop the start. */
    readonly lostKeyIds: readonly string[];
    readonly adminToken: string;
    readonly internalTokens: readonly NamedToken[];
  };
  readonly internalAccounts: InternalAccountSettings;
  readonly mail: { readonly smtpUrl: string | undefined; readonly from: string };
  /** Who runs the service, as it stands on invoices, and how they are paid. */
  readonly seller: {
    readonly name: string | undefined;
    readonly address: readonly string[];
    readonly taxId: string | undefined;
    readonly payment: { readonly details: readonly string[]; readonly url: string | null };
  };
  readonly egressAllow: readonly string[];
  readonly rate: {
    readonly callsPerSecond: number;
    /** Of one customer under `/api`; 0 switches that limit off. */
    readonly apiPerSecond: number;
    readonly addressPerMinute: number;
  };
  readonly connectorUrls: Readonly<Record<string, string>>;
  /** Provider → the operator's registration there. */
  readonly oauthClients: Readonly<Record<string, OAuthClient>>;
  /** What vendors sign their messages with. */
  readonly inbound: {
    readonly slackSigningSecret: string | undefined;
    readonly discordPublicKeys: readonly string[] | undefined;
  };
  readonly whatsapp: { readonly appSecret: string | undefined; readonly verifyToken: string | undefined };
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const RATE_MAX = 1_000_000;

const spec = {
  nodeEnv: settings.text('NODE_ENV', { optional: true }),
  port: settings.integer('TOOLHUB_PORT', { min: 1, max: 65_535, default: 4100 }),
  host: settings.host('TOOLHUB_HOST', { default: '127.0.0.1' }),
  publicUrl: settings.publicUrl('TOOLHUB_PUBLIC_URL', { optional: true }),
  trustProxy: settings.proxies('TOOLHUB_TRUST_PROXY', { optional: true }),
  logLevel: settings.choice('TOOLHUB_LOG_LEVEL', LOG_LEVELS, { default: 'info' }),
  databaseUrl: settings.url(['TOOLHUB_DATABASE_URL', 'DATABASE_URL'], {
    protocols: ['postgres:', 'postgresql:'],
    optional: true,
  }),
  databaseDirectUrl: settings.url(['TOOLHUB_DATABASE_DIRECT_URL', 'DATABASE_DIRECT_URL'], {
    protocols: ['postgres:', 'postgresql:'],
    optional: true,
  }),
  preparedStatements: settings.choice(
    ['TOOLHUB_DATABASE_PREPARED_STATEMENTS', 'DATABASE_PREPARED_STATEMENTS'],
    ['auto', 'on', 'off'],
    { default: 'auto' },
  ),
  statementTimeoutMs: settings.durationMs(
    ['TOOLHUB_DATABASE_STATEMENT_TIMEOUT', 'DATABASE_STATEMENT_TIMEOUT'],
    { min: 1_000, max: 3_600_000, default: 30_000 },
  ),
  dataDir: settings.text('DATA_DIR', { default: '.data' }),
  encryptionKeys: settings.keys('TOOLHUB_ENCRYPTION_KEY', { bytes: SEAL_KEY_BYTES, optional: true }),
  lostKeyIds: settings.custom<readonly string[]>('TOOLHUB_LOST_ENCRYPTION_KEYS', parseKeyIds, {
    default: [],
  }),
  adminToken: settings.bearer('TOOLHUB_ADMIN_TOKEN', { optional: true }),
  metricsToken: settings.bearer('TOOLHUB_METRICS_TOKEN', { optional: true }),
  internalTokens: settings.namedTokens('TOOLHUB_INTERNAL_TOKENS', { optional: true }),
  smtpUrl: settings.url('SMTP_URL', { protocols: ['smtp:', 'smtps:'], needsHost: true, optional: true }),
  mailFrom: settings.mailbox('MAIL_FROM', { default: 'Toolhub <toolhub@localhost>' }),
  sellerName: settings.text('TOOLHUB_SELLER_NAME', { optional: true }),
  sellerAddress: settings.custom<readonly string[]>('TOOLHUB_SELLER_ADDRESS', readLines, { default: [] }),
  sellerTaxId: settings.text('TOOLHUB_SELLER_TAX_ID', { optional: true }),
  paymentDetails: settings.custom<readonly string[]>('TOOLHUB_PAYMENT_DETAILS', readLines, { default: [] }),
  paymentUrl: settings.custom<string | undefined>('TOOLHUB_PAYMENT_URL', readPaymentUrl, {
    default: undefined,
  }),
  egressAllow: settings.hostPorts('TOOLHUB_EGRESS_ALLOW', { default: [] }),
  rate: settings.integer('TOOLHUB_RATE', { min: 0, max: RATE_MAX, default: 20 }),
  rateApi: settings.integer('TOOLHUB_RATE_API', { min: 0, max: RATE_MAX, default: 10 }),
  rateAddress: settings.integer('TOOLHUB_RATE_ADDRESS', { min: 0, max: RATE_MAX, default: 30 }),
  slackSigningSecret: settings.text('SLACK_SIGNING_SECRET', { optional: true }),
  discordPublicKeys: settings.custom<readonly string[] | undefined>('DISCORD_PUBLIC_KEY', readPublicKeys, {
    default: undefined,
  }),
  whatsappAppSecret: settings.text('WHATSAPP_APP_SECRET', { optional: true }),
  whatsappVerifyToken: settings.text('WHATSAPP_VERIFY_TOKEN', { optional: true }),
  internalAccounts: settings.jsonFile('TOOLHUB_INTERNAL_ACCOUNTS', { default: {} }),
};

const PRINTED_LINES_MAX = 10;

/** Lines of an address, with semicolons or line breaks between them. */
function readLines(text: string): readonly string[] | Error {
  const lines = text
    .split(/[;\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length <= PRINTED_LINES_MAX
    ? lines
    : new Error(`must be at most ${PRINTED_LINES_MAX} lines, with semicolons between them`);
}

/** `{number}` and `{amount_cents}` are put in later. */
function readPaymentUrl(text: string): string | Error {
  const plain = text.replaceAll(/\{(number|amount_cents)\}/g, '0');
  const isUsable = URL.canParse(plain) && new URL(plain).protocol === 'https:' && !/[{}\s]/.test(plain);
  return isUsable ? text : new Error('must be an https address, with {number} and {amount_cents} at will');
}

function readPublicKeys(text: string): readonly string[] | Error {
  const keys = text.split(',').map((key) => key.trim());
  return keys.every((key) => /^[0-9a-f]{64}$/i.test(key))
    ? keys
    : new Error('must be the public key of an application, 64 hexadecimal digits, or several with commas');
}

/** What is wrong with the file of internal accounts, platform by platform. */
function accountFaults(given: unknown, connectors: readonly Connector[]): readonly string[] {
  if (!isRecord(given)) return ['it is not an object of platforms'];
  const isWellFormed = (names: unknown) => isRecord(names) && Object.values(names).every(isRecord);
  const platforms = Object.entries(given);
  const formless = platforms.filter(([, names]) => !isWellFormed(names));
  const formed = Object.fromEntries(platforms.filter(([, names]) => isWellFormed(names)));
  return [
    ...formless.map(([platform]) => `"${platform}" is not an object of accounts`),
    ...credentialFaults(formed as InternalAccountSettings, connectors),
  ];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readConnectorUrls(
  env: Env,
  platforms: ReadonlySet<string>,
  problems: string[],
): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const [name, value = ''] of Object.entries(env)) {
    const platform = /^TOOLHUB_CONNECTOR_(.+)_URL$/.exec(name)?.[1]?.toLowerCase();
    if (platform === undefined || value.trim() === '') continue;
    const url = URL.canParse(value.trim()) ? new URL(value.trim()) : undefined;
    if (!platforms.has(platform)) problems.push(`${name} is for an unknown platform`);
    else if (url === undefined || !/^https?:$/.test(url.protocol))
      problems.push(`${name} must be an http or https URL`);
    else urls[platform] = value.trim().replace(/\/+$/, '');
  }
  return urls;
}

/** What is wrong with the credentials of internal accounts; only their platforms know. */
function credentialFaults(
  accounts: InternalAccountSettings,
  connectors: readonly Connector[],
): readonly string[] {
  try {
    readInternalAccounts(accounts, connectors);
    return [];
  } catch (error) {
    if (error instanceof InternalAccountsError) return error.problems;
    throw error;
  }
}

function readSettings(env: Env, connectors: readonly Connector[]) {
  const problems: string[] = [];
  const { platforms, providers } = settingNames(connectors);
  const connectorUrls = readConnectorUrls(env, platforms, problems);
  const oauthClients = readOAuthClients(env, providers, problems);
  const values = loadSettings(env, spec, (loaded) => [
    ...problems,
    ...conflictsOf(loaded, connectors),
    ...allowProblems('TOOLHUB_EGRESS_ALLOW', loaded.egressAllow),
  ]);
  const internalAccounts = values.internalAccounts as InternalAccountSettings;
  return { ...values, internalAccounts, connectorUrls, oauthClients };
}

/** What the guides call a customer's token, and what our compose file makes an address of. */
const NAMES_OF_OTHERS = ['TOOLHUB_TOKEN', 'TOOLHUB_DATABASE_PASSWORD'] as const;

/** A line for each variable that looks like one of our settings and is none. */
export function settingWarnings(env: Env, connectors: readonly Connector[]): string[] {
  const { platforms, providers } = settingNames(connectors);
  const upper = (names: ReadonlySet<string>) => [...names].map((name) => name.toUpperCase());
  const names = [
    ...Object.values(spec).flatMap((setting) => setting.names),
    ...upper(platforms).map((platform) => `TOOLHUB_CONNECTOR_${platform}_URL`),
    ...upper(providers).flatMap((id) => OAUTH_FIELDS.map((field) => `TOOLHUB_OAUTH_${id}_${field}`)),
  ];
  return unknownSettings(env, { prefix: 'TOOLHUB_', names, others: NAMES_OF_OTHERS });
}

/** What each setting allows by itself and all of them together, or the content of a file, do not. */
function conflictsOf(loaded: Settings<typeof spec>, connectors: readonly Connector[]): string[] {
  const problems: string[] = [];
  if (loaded.databaseDirectUrl !== undefined && loaded.databaseUrl === undefined)
    problems.push('TOOLHUB_DATABASE_DIRECT_URL goes with TOOLHUB_DATABASE_URL, the address of the pooler');
  // Undefined where the file could not be read, which is said already.
  const faults =
    loaded.internalAccounts === undefined ? [] : accountFaults(loaded.internalAccounts, connectors);
  if (faults.length > 0)
    problems.push(`TOOLHUB_INTERNAL_ACCOUNTS names a file with faults: ${faults.join(', ')}`);
  return problems;
}

async function loadSealKeys(path: string): Promise<readonly Buffer[]> {
  const text = await loadOrCreateSecretFile(path, () => randomBytes(SEAL_KEY_BYTES).toString('base64'));
  const parsed = parseSealKeys(text);
  if (parsed.ok) return parsed.keys;
  throw new StartError(`${path} is not an encryption key: ${parsed.detail}`);
}

/** Reads the environment once; secrets that it does not name are made once under the data folder. */
export async function loadConfig(env: Env, connectors: readonly Connector[]): Promise<Config> {
  const values = readSettings(env, connectors);
  const pathOf = (name: string) => join(values.dataDir, 'toolhub', name);
  const file = (name: string, make: () => string) => loadOrCreateSecretFile(pathOf(name), make);
  const encryptionKeys = values.encryptionKeys ?? (await loadSealKeys(pathOf('encryption-key')));
  const adminToken = values.adminToken ?? (await file('admin-token', () => newToken('tha_', randomBytes)));
  const internalTokens = values.internalTokens ?? [
    { name: 'default', token: await file('internal-token', () => newToken('thi_', randomBytes)) },
  ];
  return Object.freeze({
    development: values.nodeEnv !== 'production',
    metricsAccess:
      values.metricsToken === undefined
        ? values.nodeEnv === 'production'
          ? 'closed'
          : 'open'
        : { token: values.metricsToken },
    server: Object.freeze({
      host: values.host,
      port: values.port,
      publicUrl: values.publicUrl ?? `http://localhost:${values.port}`,
      trustProxy: values.trustProxy,
      logLevel: values.logLevel,
    }),
    databaseUrl: values.databaseUrl,
    databaseDirectUrl: values.databaseDirectUrl,
    preparedStatements: values.preparedStatements === 'auto' ? undefined : values.preparedStatements === 'on',
    statementTimeoutMs: values.statementTimeoutMs,
    dataDir: values.dataDir,
    secrets: Object.freeze({
      ...{ encryptionKeys, lostKeyIds: values.lostKeyIds, adminToken, internalTokens },
    }),
    internalAccounts: values.internalAccounts,
    mail: Object.freeze({ smtpUrl: values.smtpUrl, from: values.mailFrom }),
    seller: Object.freeze({
      name: values.sellerName,
      address: values.sellerAddress,
      taxId: values.sellerTaxId,
      payment: Object.freeze({ details: values.paymentDetails, url: values.paymentUrl ?? null }),
    }),
    egressAllow: values.egressAllow,
    rate: Object.freeze({
      callsPerSecond: values.rate,
      apiPerSecond: values.rateApi,
      addressPerMinute: values.rateAddress,
    }),
    connectorUrls: Object.freeze(values.connectorUrls),
    oauthClients: Object.freeze(values.oauthClients),
    inbound: Object.freeze({
      slackSigningSecret: values.slackSigningSecret,
      discordPublicKeys: values.discordPublicKeys,
    }),
    whatsapp: Object.freeze({ appSecret: values.whatsappAppSecret, verifyToken: values.whatsappVerifyToken }),
  });
}
