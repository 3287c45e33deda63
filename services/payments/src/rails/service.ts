import type { Database, Queryable } from '@libs/db';
import type { CronEntry, Handler } from '@libs/jobs';
import type { NewId, Sealer } from '@libs/seal';
import type { Clocks } from '../clock/service.ts';
import type { PaymentsConfig } from '../config.ts';
import type { PaymentMethods } from '../payment-methods/service.ts';
import { behaviourOf } from '../payment-methods/test-accounts.ts';
import type { Payment } from '../payments/payment.ts';
import type { Processing } from '../payments/processing.ts';
import type { Quarantine } from '../quarantine/service.ts';
import type { ReconciledRail } from '../reconciliation/reconciliation.ts';
import type { RailIsUp } from '../routing/service.ts';
import type { RailTerms } from '../routing/terms.ts';
import type { ForcibleCode } from '../sandbox/service.ts';
import { achBooks } from './ach/books.ts';
import { createTransportFor } from './ach/connections.ts';
import type { AchContext } from './ach/context.ts';
import { createAchHandlers } from './ach/handlers.ts';
import { entryRefusalMeaning, returnMeaning } from './ach/meanings.ts';
import { createNotifyOfChange } from './ach/notify.ts';
import { SANDBOX_ORIGINATOR } from './ach/originator.ts';
import { createAchRail } from './ach/rail.ts';
import { createPace } from './ach/schedule.ts';
import { type AchSftp, createAchSftp } from './ach/sftp.ts';
import type { RailLog } from './alert.ts';
import type { BankIdentity } from './bank-identity.ts';
import { createRailHealth } from './health.ts';
import { createMessageVault } from './message-vault.ts';
import { createRailMessages, type RailMessages } from './messages.ts';
import type { Rail } from './rail.ts';
import { rtpBooks } from './rtp/books.ts';
import { REJECT_REASONS, rejectReason } from './rtp/codes.ts';
import { liveConnection, type RtpConnections, SANDBOX_NETWORK, sandboxConnection } from './rtp/connection.ts';
import { createRtpRail } from './rtp/rail.ts';
import { createRtpGateway, type RtpGateway } from './rtp/transport-gateway.ts';
import { createSandboxTransport } from './rtp/transport-sandbox.ts';
import { createRtpHandlers, readReceived } from './rtp/worker.ts';
import { accountMarks } from './sandbox/account-marks.ts';
import { createAchOperator } from './sandbox/ach-operator.ts';
import { createSandboxRtpNetwork } from './sandbox/rtp-network.ts';

export interface RailsDependencies {
  config: PaymentsConfig;
  bank: BankIdentity;
  database: Database;
  sealer: Sealer;
  now: () => Date;
  newId: NewId;
  log: RailLog;
  onError: (error: unknown, context: { where: string }) => void;
  terms: RailTerms;
  paymentMethods: PaymentMethods;
  clocks: Clocks;
  quarantine: Pick<Quarantine, 'putAside'>;
}

/** All rails that lead outside, with the networks behind them: the real ones live, the simulated ones in test mode. */
export interface Rails {
  carriers: readonly Rail[];
  isUp: RailIsUp;
  messages: RailMessages;
  /** Those whose days can be compared with the ledger. */
  reconciled: readonly ReconciledRail[];
  /** The jobs of the rails; they need the payments that they move. */
  work(needs: { processing: Processing }): RailWork;
  rejectMeaning(rail: Payment['railSelected'], code: string | null): ForcibleCode | undefined;
  returnMeaning(code: string): ForcibleCode | undefined;
  /** Tells the simulated network what shall become of a payment that it has, so that its books agree with ours. */
  orderOutcome(tx: Queryable, payment: Payment, outcome: OrderedOutcome): Promise<void>;
  close(): Promise<void>;
}

export type OrderedOutcome = { status: 'ACTC' } | { status: 'RJCT'; code: string };

export interface RailWork {
  handlers: readonly Handler[];
  cron: readonly CronEntry[];
  /** Tells of a change as a bank would; false where there is no such code. */
  notifyOfChange(tx: Queryable, payment: Payment, code: string): Promise<boolean>;
}

const RTP_REJECT_DEFAULT = 'AC04';

export async function createRails(deps: RailsDependencies): Promise<Rails> {
  const { config, database, bank, now, newId, log, terms, paymentMethods, clocks } = deps;
  const onError = (error: unknown) => deps.onError(error, { where: 'rail health' });
  const health = await createRailHealth({ database, now, log, onError });
  const network = createSandboxRtpNetwork({
    database,
    participant: SANDBOX_NETWORK,
    behaviourOf,
    marks: accountMarks(deps.sealer),
    now,
  });
  const gateway = await openGateway(config.rails.rtp);
  const connections: RtpConnections = {
    test: config.sandbox.on
      ? sandboxConnection(createSandboxTransport({ network, answerMs: config.sandbox.rtpMs, log }))
      : null,
    live: gateway && bank.rtp ? liveConnection(bank.rtp, gateway) : null,
  };
  const pace = createPace(terms, config.sandbox.achMs);
  const operator = config.sandbox.on
    ? createAchOperator({
        database,
        now,
        behaviourOf,
        terms: pace.terms,
        originator: SANDBOX_ORIGINATOR,
        sandboxMs: config.sandbox.achMs,
      })
    : null;
  const sftp = openSftp(deps, log);
  const originators = { test: operator && SANDBOX_ORIGINATOR, live: sftp && bank.ach };
  const { openAccountNumber } = paymentMethods;
  const vault = createMessageVault(deps.sealer);
  return {
    carriers: [
      createRtpRail({ terms, connections, openAccountNumber, newId, vault, log }),
      createAchRail({ terms, pace, isConfigured: (mode) => originators[mode] !== null }),
    ],
    isUp: health.isUp,
    messages: createRailMessages({ database, sealer: deps.sealer }),
    reconciled: [
      { id: 'ach', books: achBooks },
      { id: 'rtp', books: rtpBooks },
    ],
    work({ processing }) {
      const { applyOutcomes, lockPayments } = processing;
      const { quarantine } = deps;
      const shared = { database, applyOutcomes, clocks, health, quarantine, now, newId, log };
      const rtp = { ...shared, connections, vault };
      const answers = network.handlers((tx, messages) =>
        readReceived(
          rtp,
          tx,
          messages.map((xml) => ({ mode: 'test', xml })),
        ),
      );
      const context: AchContext = {
        ...shared,
        ...{ pace, originators, lockPayments, openAccountNumber, sealer: deps.sealer },
        representmentsWanted: config.rails.ach.representments,
        transportFor: createTransportFor({ sandbox: operator, live: sftp }),
        findMethods: paymentMethods.find,
        applyCorrection: paymentMethods.applyCorrection,
      };
      const ach = createAchHandlers(context);
      return {
        handlers: [...createRtpHandlers(rtp), ...answers, ...ach.handlers],
        cron: ach.cron,
        notifyOfChange: createNotifyOfChange(context),
      };
    },
    rejectMeaning,
    returnMeaning,
    async orderOutcome(tx, payment, outcome) {
      const reference = payment.attempts.at(-1)?.network_reference;
      if (payment.railSelected === 'rtp' && reference) await network.order(tx, reference, outcome);
    },
    async close() {
      health.close();
      gateway?.close();
      await sftp?.close();
    },
  };
}

async function openGateway(options: PaymentsConfig['rails']['rtp']): Promise<RtpGateway | null> {
  if (options.gatewayUrl === undefined) return null;
  return createRtpGateway({ ...options, url: options.gatewayUrl });
}

function openSftp({ config, now }: RailsDependencies, log: RailLog): AchSftp | null {
  const { sftpUrl, keyPath, hostKey } = config.rails.ach;
  if (sftpUrl === undefined) return null;
  return createAchSftp({
    url: sftpUrl,
    privateKeyPath: keyPath,
    hostKeyFingerprint: hostKey ?? null,
    now,
    log,
  });
}

function rejectMeaning(rail: Payment['railSelected'], code: string | null): ForcibleCode | undefined {
  if (rail === 'ach') return entryRefusalMeaning(code);
  const wanted = code ?? RTP_REJECT_DEFAULT;
  if (!REJECT_REASONS.has(wanted)) return undefined;
  const { failureCode, title } = rejectReason(wanted);
  return { networkCode: wanted, code: failureCode, detail: title };
}
