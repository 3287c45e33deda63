import { allowProblems } from '@libs/egress';
import type { MetricsAccess } from '@libs/http';
import { type Env, loadSettings, settings, unknownSettings } from '@libs/runtime';
import { parseKeyIds } from '@libs/seal';
import { readSftpUrl } from './rails/ach/bank/sftp-place.ts';
import { sshKeyFault } from './rails/ach/bank/ssh-key.ts';
import {
  type BankIdentity,
  bankIdentityOf,
  bankIdentityProblems,
  type LiveRails,
} from './rails/bank-identity.ts';
import type { CertificateInUse } from './rails/certificates.ts';
import { readGatewayUrl } from './rails/rtp/lines/gateway-url.ts';

const PRODUCTION_TOKEN_LENGTH_MIN = 16;

/** Every setting of the service; nothing else in it reads the environment. */
export const settingsSpec = {
  nodeEnv: settings.text('NODE_ENV', { default: 'development' }),
  role: settings.choice('PAYMENTS_ROLE', ['api', 'worker', 'all'], { default: 'all' }),
  port: settings.port('PAYMENTS_PORT', { default: 4000 }),
  host: settings.host('PAYMENTS_HOST', { default: '127.0.0.1' }),
  publicUrl: settings.publicUrl('PAYMENTS_PUBLIC_URL', { optional: true }),
  trustProxy: settings.proxies('PAYMENTS_TRUST_PROXY', { optional: true }),
  databaseUrl: settings.url(['PAYMENTS_DATABASE_URL', 'DATABASE_URL'], {
    protocols: ['postgres:', 'postgresql:'],
    optional: true,
  }),
  databaseDirectUrl: settings.url(['PAYMENTS_DATABASE_DIRECT_URL', 'DATABASE_DIRECT_URL'], {
    protocols: ['postgres:', 'postgresql:'],
    optional: true,
  }),
  preparedStatements: settings.choice(
    ['PAYMENTS_DATABASE_PREPARED_STATEMENTS', 'DATABASE_PREPARED_STATEMENTS'],
    ['auto', 'on', 'off'],
    { default: 'auto' },
  ),
  databaseConnections: settings.integer('PAYMENTS_DATABASE_CONNECTIONS', { min: 4, max: 200, default: 16 }),
  statementTimeoutMs: settings.durationMs(
    ['PAYMENTS_DATABASE_STATEMENT_TIMEOUT', 'DATABASE_STATEMENT_TIMEOUT'],
    { min: 1_000, max: 3_600_000, default: 30_000 },
  ),
  dataDir: settings.text('DATA_DIR', { default: '.data' }),
  encryptionKeys: settings.keys('PAYMENTS_ENCRYPTION_KEY', { optional: true }),
  lostKeyIds: settings.custom<readonly string[]>('PAYMENTS_LOST_ENCRYPTION_KEYS', parseKeyIds, {
    default: [],
  }),
  adminToken: settings.bearer('PAYMENTS_ADMIN_TOKEN', { minLength: 1, optional: true }),
  metricsToken: settings.bearer('PAYMENTS_METRICS_TOKEN', { optional: true }),
  smtpUrl: settings.url('SMTP_URL', { protocols: ['smtp:', 'smtps:'], needsHost: true, optional: true }),
  mailFrom: settings.mailbox('MAIL_FROM', { default: 'Payments <payments@localhost>' }),
  egressAllow: settings.hostPorts('PAYMENTS_EGRESS_ALLOW', { default: [] }),
  achSftpUrl: settings.custom<string | undefined>('PAYMENTS_ACH_SFTP_URL', readSftpUrl, {
    default: undefined,
  }),
  achSftpKeyPath: settings.pathOfFile('PAYMENTS_ACH_SFTP_KEY', { faultOf: sshKeyFault, optional: true }),
  achSftpHostKey: settings.text('PAYMENTS_ACH_SFTP_HOST_KEY', { optional: true }),
  achDebitHoldDays: settings.integer('PAYMENTS_ACH_DEBIT_HOLD_DAYS', { min: 0, max: 60, default: 2 }),
  achRepresent: settings.integer('PAYMENTS_ACH_REPRESENT', { min: 0, max: 2, default: 0 }),
  bankIdentity: settings.jsonFile('PAYMENTS_BANK_IDENTITY', { optional: true }),
  rtpGatewayUrl: settings.custom<string | undefined>('PAYMENTS_RTP_GATEWAY_URL', readGatewayUrl, {
    default: undefined,
  }),
  rtpCertificate: settings.certificates('PAYMENTS_RTP_CLIENT_CERT', { optional: true }),
  rtpKey: settings.privateKey('PAYMENTS_RTP_CLIENT_KEY', { optional: true }),
  rtpAuthority: settings.certificates('PAYMENTS_RTP_CA', { optional: true }),
  rtpInboundToken: settings.bearer('PAYMENTS_RTP_INBOUND_TOKEN', { optional: true }),
  rateLive: settings.integer('PAYMENTS_RATE_LIVE', { min: 0, max: 1_000_000, default: 100 }),
  rateTest: settings.integer('PAYMENTS_RATE_TEST', { min: 0, max: 1_000_000, default: 25 }),
  rateAddress: settings.integer('PAYMENTS_RATE_ADDRESS', { min: 0, max: 1_000_000, default: 30 }),
  sandbox: settings.flag('PAYMENTS_SANDBOX', { default: true }),
  sandboxRtpMs: settings.durationMs('PAYMENTS_SANDBOX_RTP_MS', { max: 600_000, default: 200 }),
  sandboxAchMs: settings.durationMs('PAYMENTS_SANDBOX_ACH_MS', { max: 600_000, default: 2_000 }),
  requestLogDays: settings.integer('PAYMENTS_REQUEST_LOG_DAYS', { min: 0, max: 90, default: 7 }),
  logLevel: settings.choice(
    'PAYMENTS_LOG_LEVEL',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    { default: 'warn' },
  ),
} as const;

type Loaded = ReturnType<typeof loadSettings<typeof settingsSpec>>;

export interface PaymentsConfig {
  readonly development: boolean;
  readonly role: Loaded['role'];
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Whether the operator chose the port: a worker listens only then. */
    readonly portIsSet: boolean;
    readonly publicUrl: string;
    /** Whose `X-Forwarded-For` is believed; undefined: nobody's. */
    readonly trustProxy: readonly string[] | undefined;
    readonly logLevel: Loaded['logLevel'];
  };
  readonly database: {
    readonly url: string | undefined;
    /** The server itself where `url` leads to a pooler. */
    readonly directUrl: string | undefined;
    /** Undefined: yes, but not behind a pooler. */
    readonly preparedStatements: boolean | undefined;
    /** For live requests and work in the background, and for requests in test mode: neither can use up the other's. */
    readonly connectionsMax: number;
    readonly testConnectionsMax: number;
    readonly statementTimeoutMs: number;
  };
  readonly dataDir: string;
  readonly encryptionKeys: readonly Buffer[] | undefined;
  /** Ids of keys that are lost for good, so that what they sealed does not stop the start. */
  readonly lostKeyIds: readonly string[];
  readonly adminToken: string | undefined;
  readonly metricsAccess: MetricsAccess;
  readonly egress: { readonly allow: readonly string[]; readonly development: boolean };
  /** Where mail leaves; undefined: `.eml` files under `dataDir`. */
  readonly mail: { readonly smtpUrl: string | undefined; readonly from: string };
  readonly rates: {
    readonly live: number;
    readonly test: number;
    /** Sign-ups, logins and the like, from one network address. */
    readonly addressPerMinute: number;
  };
  /** How long calls are kept for developers to look at; 0: not at all. */
  readonly requestLogDays: number;
  readonly sandbox: { readonly on: boolean; readonly rtpMs: number; readonly achMs: number };
  readonly rails: {
    /** How the banks know us. */
    readonly bank: BankIdentity;
    /** Of every file that is set, so that the start can say which are out of date. */
    readonly certificates: readonly CertificateInUse[];
    readonly ach: {
      readonly sftpUrl: string | undefined;
      readonly keyPath: string | undefined;
      readonly hostKey: string | undefined;
      /** How often a debit that came back as R01 or R09 is presented again. */
      readonly representments: number;
      /** Banking days after its settlement until a debit's money is good. */
      readonly debitHoldDays: number;
    };
    readonly rtp: {
      readonly gatewayUrl: string | undefined;
      readonly certificatePath: string | undefined;
      readonly keyPath: string | undefined;
      readonly authorityPath: string | undefined;
      /** Lets the gateway deliver answers by itself. */
      readonly inboundToken: string | undefined;
    };
  };
}

/** Throws one `SettingsError` that names every setting that is missing or wrong. */
export function loadConfig(env: Env): PaymentsConfig {
  const live = liveRails(env);
  const loaded = loadSettings(env, settingsSpec, (values) => [
    ...conflictsOf(values, live),
    ...bankProblems(values, live),
    ...allowProblems('PAYMENTS_EGRESS_ALLOW', values.egressAllow),
  ]);
  const development = isDevelopment(loaded);
  return {
    development,
    role: loaded.role,
    http: {
      host: loaded.host,
      port: loaded.port,
      portIsSet: isSet(env.PAYMENTS_PORT),
      publicUrl: loaded.publicUrl ?? `http://localhost:${loaded.port}`,
      trustProxy: loaded.trustProxy,
      logLevel: loaded.logLevel,
    },
    database: {
      url: loaded.databaseUrl,
      directUrl: loaded.databaseDirectUrl,
      preparedStatements:
        loaded.preparedStatements === 'auto' ? undefined : loaded.preparedStatements === 'on',
      connectionsMax: loaded.databaseConnections - testShareOf(loaded.databaseConnections),
      testConnectionsMax: testShareOf(loaded.databaseConnections),
      statementTimeoutMs: loaded.statementTimeoutMs,
    },
    dataDir: loaded.dataDir,
    encryptionKeys: loaded.encryptionKeys,
    lostKeyIds: loaded.lostKeyIds,
    adminToken: loaded.adminToken,
    metricsAccess:
      loaded.metricsToken === undefined ? (development ? 'open' : 'closed') : { token: loaded.metricsToken },
    egress: { allow: loaded.egressAllow, development },
    mail: { smtpUrl: loaded.smtpUrl, from: loaded.mailFrom },
    rates: { live: loaded.rateLive, test: loaded.rateTest, addressPerMinute: loaded.rateAddress },
    requestLogDays: loaded.requestLogDays,
    sandbox: { on: loaded.sandbox, rtpMs: loaded.sandboxRtpMs, achMs: loaded.sandboxAchMs },
    rails: {
      bank: bankIdentityOf(loaded.bankIdentity, live),
      certificates: certificatesOf(loaded),
      ach: {
        sftpUrl: loaded.achSftpUrl,
        keyPath: loaded.achSftpKeyPath,
        hostKey: loaded.achSftpHostKey,
        representments: loaded.achRepresent,
        debitHoldDays: loaded.achDebitHoldDays,
      },
      rtp: {
        gatewayUrl: loaded.rtpGatewayUrl,
        certificatePath: loaded.rtpCertificate?.path,
        keyPath: loaded.rtpKey?.path,
        authorityPath: loaded.rtpAuthority?.path,
        inboundToken: loaded.rtpInboundToken,
      },
    },
  };
}

/** What the programs of our clients read, and what our compose file makes addresses of. */
const NAMES_OF_OTHERS = [
  'PAYMENTS_API_KEY',
  'PAYMENTS_API_URL',
  'PAYMENTS_CONFIG',
  'PAYMENTS_DATABASE_PASSWORD',
] as const;

/** A line for each variable that looks like one of our settings and is none. */
export function settingWarnings(env: Env): string[] {
  const names = Object.values(settingsSpec).flatMap((setting) => setting.names);
  return unknownSettings(env, { prefix: 'PAYMENTS_', names, others: NAMES_OF_OTHERS });
}

function isSet(text: string | undefined): boolean {
  return (text ?? '').trim() !== '';
}

/** By what is set, right or wrong: a bad address of a rail must not hide what is wrong with our identity there. */
function liveRails(env: Env): LiveRails {
  return { ach: isSet(env.PAYMENTS_ACH_SFTP_URL), rtp: isSet(env.PAYMENTS_RTP_GATEWAY_URL) };
}

function isDevelopment({ nodeEnv }: Loaded): boolean {
  return nodeEnv !== 'production';
}

/** A third of the connections: accepting takes one at a time however many payments wait. */
function testShareOf(connections: number): number {
  return Math.max(1, Math.floor(connections / 3));
}

/** Anything else, the key itself above all, would match no server, and every file would wait for a bank that is there. */
const HOST_KEY_FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}=?$/;

/** What each setting allows by itself and all of them together do not. */
function conflictsOf(loaded: Loaded, live: LiveRails): string[] {
  const problems: string[] = [];
  const development = isDevelopment(loaded);
  if (loaded.databaseDirectUrl !== undefined && loaded.databaseUrl === undefined) {
    problems.push('PAYMENTS_DATABASE_DIRECT_URL goes with PAYMENTS_DATABASE_URL, the address of the pooler');
  }
  if (
    !development &&
    loaded.adminToken !== undefined &&
    loaded.adminToken.length < PRODUCTION_TOKEN_LENGTH_MIN
  ) {
    problems.push(
      `PAYMENTS_ADMIN_TOKEN must have at least ${PRODUCTION_TOKEN_LENGTH_MIN} characters in production`,
    );
  }
  if (!development && live.ach && loaded.achSftpHostKey === undefined) {
    problems.push('PAYMENTS_ACH_SFTP_HOST_KEY must be set with live ACH in production');
  }
  if (loaded.achSftpHostKey !== undefined && !HOST_KEY_FINGERPRINT.test(loaded.achSftpHostKey)) {
    problems.push(
      'PAYMENTS_ACH_SFTP_HOST_KEY must be the fingerprint that `ssh-keygen -l` prints: SHA256: and 43 characters',
    );
  }
  if (!development && live.rtp && loaded.rtpCertificate === undefined) {
    problems.push('PAYMENTS_RTP_CLIENT_CERT must be set with live RTP in production');
  }
  problems.push(...keyPairProblems(loaded));
  return problems;
}

function keyPairProblems({ rtpCertificate, rtpKey }: Loaded): string[] {
  if (rtpCertificate === undefined && rtpKey === undefined) return [];
  if (rtpCertificate === undefined || rtpKey === undefined)
    return ['PAYMENTS_RTP_CLIENT_CERT and PAYMENTS_RTP_CLIENT_KEY must be set together'];
  // TLS shows the first certificate of the file; those after it lead to its authority.
  return rtpCertificate.certificates[0].checkPrivateKey(rtpKey.key)
    ? []
    : ['PAYMENTS_RTP_CLIENT_KEY is not the key of the first certificate in PAYMENTS_RTP_CLIENT_CERT'];
}

function certificatesOf({ rtpCertificate, rtpAuthority }: Loaded): CertificateInUse[] {
  const ofSetting = (setting: string, file: Loaded['rtpCertificate']) =>
    (file?.certificates ?? []).map(({ validFromDate, validToDate }) => ({
      ...{ setting, beginsAt: validFromDate, endsAt: validToDate },
    }));
  return [
    ...ofSetting('PAYMENTS_RTP_CLIENT_CERT', rtpCertificate),
    ...ofSetting('PAYMENTS_RTP_CA', rtpAuthority),
  ];
}

function bankProblems({ bankIdentity }: Loaded, live: LiveRails): string[] {
  if (bankIdentity === undefined)
    return live.ach || live.rtp ? ['PAYMENTS_BANK_IDENTITY must be set with a live rail'] : [];
  const faults = bankIdentityProblems(bankIdentity, live);
  return faults.length > 0 ? [`PAYMENTS_BANK_IDENTITY names a file with faults: ${faults.join(', ')}`] : [];
}
