import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Database, isAwayFrom, isServerMissing } from '@libs/db';
import { registerGuides } from '@libs/docs';
import { type App, type AppOptions, createApp, postgresRateStore, RateLimits } from '@libs/http';
import type { BackgroundPart } from '@libs/jobs';
import { createMailer, createNoticeMailer, type Mailer } from '@libs/mail';
import { createOutage, type Outage } from '@libs/runtime';
import { createIdFactory, isKeyMissing, type NewId, type RandomBytes, type Sealer } from '@libs/seal';
import type { PaymentsConfig } from '../config.ts';
import { errors } from '../errors.ts';
import { webhookDescriptions } from '../events/schemas.ts';
import { paymentsDocs } from '../guides/site.ts';
import type { BankIdentity } from '../rails/bank-identity.ts';
import { checkDatabase } from '../readiness-store.ts';
import { problemMembers, sharedParameters } from '../reference.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Secrets } from '../secrets.ts';
import type { ByMode } from '../tenant.ts';

/** What every feature is built from. */
export interface Base {
  app: App;
  config: PaymentsConfig;
  database: Database;
  /** For requests: what one mode uses up is not missing in the other. */
  databases: ByMode<Database>;
  rates: RateLimits;
  /** Counters and gauges of any feature go here; they are served with the others. */
  metrics: App['metrics'];
  log: App['log'];
  /** Who we are at our bank and on the live networks. */
  bank: BankIdentity;
  /** Mail of the service itself, to the people who use it. */
  mailer: Mailer;
  /** The same, for mails that end with an address that does not exist. */
  noticeMailer: Pick<Mailer, 'send'>;
  sealer: Sealer;
  adminToken: string;
  newId: NewId;
  randomBytes: RandomBytes;
  /** Between 0 and 1. */
  random: () => number;
  /** Real time; the organisation's own time is the sandbox clock's. */
  now: () => Date;
  /** Distinguishes this process from all others. */
  processId: string;
  /** Work beside the requests failed; it is tried again, and somebody should know. */
  onError: (error: unknown, context: { where: string }) => void;
  /** For work that is tried several times a second: `onError` is told when it begins to fail, the log when it goes on. */
  outageOf: (where: string) => Outage;
}

/** One or more features that are in place: what they serve, what runs in the background for them, and how they end. */
export interface Part extends BackgroundPart {
  /** Adds their routes, in processes that serve the API. */
  routes?: (app: App, routes: PaymentsRoutes) => void;
  close(): Promise<void>;
}

const VERSION = '0.1.0';

export interface BaseDependencies {
  config: PaymentsConfig;
  database: Database;
  /** Connections of its own for requests in test mode; shared with all else where absent. */
  testDatabase?: Database;
  secrets: Secrets;
  now?: () => Date;
  newId?: NewId;
  random?: () => number;
  onError?: Base['onError'];
  app?: Pick<AppOptions, 'logDestination' | 'metrics' | 'defaultMetrics'>;
}

export async function createBase(options: BaseDependencies): Promise<Base> {
  const { config, database, secrets, now = () => new Date() } = options;
  const { bank, rtp } = config.rails;
  const { publicUrl, logLevel, trustProxy } = config.http;
  const app = await createApp({
    ...options.app,
    name: 'payments',
    version: VERSION,
    publicUrl,
    logLevel,
    ...(trustProxy === undefined ? {} : { trustProxy }),
    errors,
    openapi: {
      ...openapi,
      securitySchemes: {
        ...openapi.securitySchemes,
        ...(rtp.inboundToken === undefined ? {} : { gatewayToken }),
      },
    },
    docs: (app) => registerGuides(app, paymentsDocs(config)),
    declaredRoutesOnly: true,
    metricsAccess: config.metricsAccess,
    readiness: () => checkDatabase(database),
    isOutage: (error) =>
      isAwayFrom(database, error) || isServerMissing(database, error) || isKeyMissing(error),
  });
  const onError: Base['onError'] =
    options.onError ??
    ((error, context) => app.log.error({ err: error, ...context }, 'background work failed'));
  const outageOf: Base['outageOf'] = (where) =>
    createOutage({
      began: (error) => onError(error, { where }),
      ended: () => app.log.warn({ where }, 'background work goes on'),
    });
  const processId = randomUUID();
  const rates = new RateLimits({
    store: postgresRateStore({
      query: (text, values) => database.query(text, values),
      schema: database.schema,
    }),
    processId,
    outage: outageOf('rate limits'),
  });
  await rates.start();
  const mailer = createMailer({
    ...{ ...config.mail, now, folder: join(config.dataDir, 'mail') },
    host: new URL(publicUrl).hostname,
  });
  return {
    ...{
      app,
      config,
      database,
      databases: { live: database, test: options.testDatabase ?? database },
      rates,
      bank,
      mailer,
      noticeMailer: createNoticeMailer(mailer, (error, mail) =>
        app.log.warn({ err: error, mail }, 'the recipient of a mail is refused for good'),
      ),
    },
    ...{ metrics: app.metrics, log: app.log, ...secrets },
    newId: options.newId ?? createIdFactory({ now, randomBytes }),
    random: options.random ?? Math.random,
    ...{ randomBytes, now, processId, onError, outageOf },
  };
}

const gatewayToken = { type: 'http', scheme: 'bearer', description: "The token of the network's gateway." };

const openapi = {
  title: 'Payments API',
  description: 'Moves money between payment methods over RTP and ACH.',
  tags: [
    { name: 'Payments', description: 'Move money: create, follow, quote, cancel, list, export.' },
    { name: 'Payment methods', description: 'Bank accounts, and balances held here.' },
    { name: 'Events', description: 'Every change, in order, for 90 days.' },
    { name: 'Webhooks', description: 'Have events sent to you, signed.' },
    { name: 'Ledger', description: 'The books behind the payments, in double entry.' },
    { name: 'Sandbox', description: 'The clock, forced outcomes and test money of test mode.' },
    { name: 'Keys', description: 'Make, restrict, roll and revoke keys; with the session of a person.' },
    { name: 'Team', description: 'The organisation, its members and invitations, and live access.' },
    { name: 'Session', description: 'People: signing up, logging in, and looking after the account.' },
    { name: 'Admin', description: 'For the operator: organisations, keys, reconciliation.' },
  ],
  securitySchemes: {
    apiKey: { type: 'http', scheme: 'bearer', description: 'A key that begins with sk_test_ or sk_live_.' },
    adminToken: { type: 'http', scheme: 'bearer', description: "The operator's token." },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'payments_session',
      description: 'A person at the dashboard; with the header `Payments-Mode: test` or `live`.',
    },
  },
  security: [{ apiKey: [] }],
  parameters: sharedParameters,
  codes: ['unsupported_api_version'],
  webhooks: webhookDescriptions,
  problemMembers,
};
