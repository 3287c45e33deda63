import { markdownTable } from '@libs/docs';
import { settingsSpec } from '../config.ts';
import { asCode } from './figures.ts';

type SettingName = keyof typeof settingsSpec;

/** What each setting is for; a new one does not compile until somebody has said it. */
const settingMeanings: Readonly<Record<SettingName, string>> = {
  nodeEnv: '`production` leaves development: no secret is printed, and webhooks reach no loopback address.',
  role: 'What this process does: `api` answers requests, `worker` does the rest, `all` does both.',
  port: 'Where it listens; a `worker` listens, for health and metrics, only where this is set.',
  host: 'On which address it listens.',
  publicUrl: 'The address that callers use; links and docs are made of it.',
  trustProxy:
    'The proxies in front, whose `X-Forwarded-For` is believed: addresses, networks such as `10.0.0.0/8`, `loopback`, `linklocal` or `uniquelocal`, with commas. Without it all who come through one proxy count as one address.',
  databaseUrl: 'Your Postgres. Without it an embedded one keeps its data under `DATA_DIR`.',
  databaseDirectUrl:
    'The Postgres itself, where the other address is that of a pooler such as PgBouncer in transaction mode.',
  preparedStatements:
    'Whether statements are prepared. Behind a pooler they are not, unless you say so: PgBouncer can keep them from 1.21 on.',
  databaseConnections: 'How many connections one process opens; a third is for test mode alone.',
  statementTimeoutMs: 'The longest that one statement may take.',
  dataDir: 'Embedded database, generated keys, mail that is not sent.',
  encryptionKeys:
    '32 bytes in base64 that seal account numbers and secrets; a comma list, newest first, rotates them.',
  lostKeyIds:
    'Ids of encryption keys that are lost for good, with commas: what they sealed no longer stops the start, and stays unreadable.',
  adminToken: 'Bearer token of `/v1/admin`.',
  metricsToken: 'Bearer token of `/metrics`; without it closed in production.',
  smtpUrl: 'How account mail leaves; without it `.eml` files under `DATA_DIR/mail`.',
  mailFrom: 'Who account mail is from.',
  egressAllow: '`host:port,…` that webhooks may reach although private or plain http.',
  achSftpUrl: "Live ACH: the bank's file server.",
  achSftpKeyPath:
    'Live ACH: our private key, a file as OpenSSH makes it, or PEM of RSA or EC; without a passphrase.',
  achSftpHostKey: 'Live ACH: the fingerprint of the server; needed in production.',
  achDebitHoldDays: 'Banking days after its settlement until the money of a debit is good.',
  achRepresent: 'How often a debit that came back as R01 or R09 is presented again, 0 to 2.',
  bankIdentity:
    'A JSON file that says who you are at your bank and on the networks; needed with a live rail.',
  rtpGatewayUrl: 'Live RTP: the gateway.',
  rtpCertificate:
    'Live RTP: our certificate and what leads to its authority, a PEM file; needed in production.',
  rtpKey: 'Live RTP: the key of the certificate, a PEM file without a passphrase.',
  rtpAuthority: 'Live RTP: the authority of the gateway, a PEM file.',
  rtpInboundToken: 'Live RTP: lets the gateway deliver answers to `POST /v1/network/rtp`.',
  rateLive: 'Requests per second and live key; 0 is off.',
  rateTest: 'Requests per second and test key; 0 is off.',
  rateAddress: 'Sign-ups, logins and the like per minute and network address; 0 is off.',
  sandbox: 'Whether the published sandbox key works.',
  sandboxRtpMs: 'How long the simulated RTP takes.',
  sandboxAchMs: 'How long the simulated ACH takes while no sandbox clock is set.',
  requestLogDays: 'For how many days calls are kept for the page “Request log”; 0 keeps none.',
  logLevel: 'How much is logged.',
};

const OWN_WORDS: Readonly<Partial<Record<SettingName, string>>> = {
  publicUrl: '`http://localhost:<port>`',
  databaseUrl: 'embedded',
  encryptionKeys: 'made once',
  adminToken: 'made once',
  statementTimeoutMs: '`30s`',
  sandbox: '`on`',
};

function defaultOf(name: SettingName): string {
  const own = OWN_WORDS[name];
  if (own !== undefined) return own;
  const value: unknown = settingsSpec[name].fallback?.value;
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '–';
  return asCode(typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value));
}

export function settingsTable(): string {
  const names = Object.keys(settingsSpec) as SettingName[];
  return markdownTable(
    ['Variable', 'Default', 'For'],
    names.map((name) => [
      settingsSpec[name].names.map(asCode).join(' or '),
      defaultOf(name),
      settingMeanings[name],
    ]),
  );
}
