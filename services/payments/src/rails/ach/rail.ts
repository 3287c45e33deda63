import { behaviourOf } from '../../payment-methods/test-accounts.ts';
import type { RailDependencies } from '../dependencies.ts';
import { lostForGood } from '../lost-keys.ts';
import type { Rail } from '../rail.ts';
import { createTransportFor } from './bank/connections.ts';
import { type AchSftp, createAchSftp } from './bank/sftp.ts';
import type { AchTransport } from './bank/transport.ts';
import { achBooks } from './books/books.ts';
import { type AchScope, freeScopeOf } from './entries/scope.ts';
import { createAchFiles } from './files.ts';
import { forceOnAch, lockForForcing, meaningOnAch } from './forcing.ts';
import { applyAside } from './incoming/applying.ts';
import { achMessagesOf } from './messages.ts';
import { createAchOperator } from './operator/operator.ts';
import type { Originator } from './outgoing/files.ts';
import { createAchCarrier } from './outgoing/orders.ts';
import { SANDBOX_ORIGINATOR } from './outgoing/originator.ts';
import { registerAchRoutes } from './routes.ts';
import { createPace } from './schedule/schedule.ts';
import { DEFAULT_ACH_TERMS } from './schedule/terms.ts';
import type { AchContext } from './work/context.ts';
import { createAchHandlers } from './work/handlers.ts';
import { wakeUp } from './work/jobs.ts';

/** What a test puts in the place of our bank, or between us and whoever takes our files. */
export interface AchTrial {
  live?: { transport: AchTransport; originator: Originator };
  wrap?: (transport: AchTransport, scope: AchScope) => AchTransport;
  /** Is given what the work is done with. */
  onContext?: (context: AchContext) => unknown;
}

/** Files to a bank and back, and the simulated operator of the sandbox. */
export async function createRail(deps: RailDependencies, trial: AchTrial = {}): Promise<Rail> {
  const { config, database, sealer, now, newId, log, paymentMethods, clocks, quarantine, health } = deps;
  const pace = createPace(config.sandbox.achMs, {
    ...DEFAULT_ACH_TERMS,
    debitHoldBankingDays: config.rails.ach.debitHoldDays,
  });
  const operator = config.sandbox.on
    ? createAchOperator({
        ...{ database, now, behaviourOf },
        terms: pace.terms,
        originator: SANDBOX_ORIGINATOR,
        sandboxMs: config.sandbox.achMs,
      })
    : null;
  const sftp = openSftp(deps);
  const live = trial.live ?? (sftp && deps.bank.ach && { transport: sftp, originator: deps.bank.ach });
  const originators = { test: operator && SANDBOX_ORIGINATOR, live: live?.originator ?? null };
  const lines = createTransportFor({ sandbox: operator, live: live?.transport ?? null });
  return {
    ...createAchCarrier({ pace, isConfigured: (mode) => originators[mode] !== null }),
    messageKinds: ['nacha', 'return', 'noc'],
    inbound: null,
    books: achBooks,
    meaningOf: meaningOnAch,
    messagesOf: (db, key) => achMessagesOf(db, sealer, key),
    work({ applyOutcomes, lockPayments }) {
      const context: AchContext = {
        ...{ database, now, newId, log, pace, originators, health, sealer, quarantine, clocks },
        ...{ applyOutcomes, lockPayments },
        operator,
        representmentsWanted: config.rails.ach.representments,
        transportFor: (scope) => {
          const transport = lines(scope);
          return transport && (trial.wrap?.(transport, scope) ?? transport);
        },
        findMethods: paymentMethods.find,
        openAccountNumber: paymentMethods.openAccountNumber,
        isLostForGood: lostForGood(config.lostKeyIds),
        applyCorrection: paymentMethods.applyCorrection,
      };
      trial.onContext?.(context);
      return {
        ...createAchHandlers(context),
        routes: (routes) => registerAchRoutes(routes, createAchFiles(context)),
        whenClockMoves: (tenantId) => [wakeUp(tenantId), wakeUp(freeScopeOf(tenantId))],
        applyAside: (tx, payment, content) => applyAside(context, tx, payment, content),
        lockFor: (tx, payment) => lockForForcing(tx, payment),
        force: (tx, payment, order) => forceOnAch(context, tx, payment, order),
      };
    },
    async close() {
      await sftp?.close();
    },
  };
}

function openSftp({ config, now, log }: RailDependencies): AchSftp | null {
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
