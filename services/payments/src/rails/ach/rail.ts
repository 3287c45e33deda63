import { behaviourOf } from '../../payment-methods/test-accounts.ts';
import type { RailDependencies } from '../dependencies.ts';
import type { Rail } from '../rail.ts';
import { createTransportFor } from './bank/connections.ts';
import { type AchSftp, createAchSftp } from './bank/sftp.ts';
import { achBooks } from './books/books.ts';
import { freeScopeOf } from './entries/scope.ts';
import { createAchFiles } from './files.ts';
import { forceOnAch, lockForForcing, meaningOnAch } from './forcing.ts';
import { applyAside } from './incoming/applying.ts';
import { achMessagesOf } from './messages.ts';
import { createAchOperator } from './operator/operator.ts';
import { createAchCarrier } from './outgoing/orders.ts';
import { SANDBOX_ORIGINATOR } from './outgoing/originator.ts';
import { registerAchRoutes } from './routes.ts';
import { createPace } from './schedule/schedule.ts';
import { DEFAULT_ACH_TERMS } from './schedule/terms.ts';
import type { AchContext } from './work/context.ts';
import { createAchHandlers } from './work/handlers.ts';
import { wakeUp } from './work/jobs.ts';

/** Files to a bank and back, and the simulated operator of the sandbox. */
export async function createRail(deps: RailDependencies): Promise<Rail> {
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
  const originators = { test: operator && SANDBOX_ORIGINATOR, live: sftp && deps.bank.ach };
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
        transportFor: createTransportFor({ sandbox: operator, live: sftp }),
        findMethods: paymentMethods.find,
        openAccountNumber: paymentMethods.openAccountNumber,
        applyCorrection: paymentMethods.applyCorrection,
      };
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
