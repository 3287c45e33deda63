import type { Queryable } from '@libs/db';
import { errors } from '../errors.ts';
import type { Payment } from '../payments/payment.ts';
import type { RailWork } from '../rails/rail.ts';
import { type Mode, parseTenantId } from '../tenant.ts';
import type { ListedQuarantined } from './quarantine.ts';
import type { Quarantine } from './service.ts';
import { findTenantOf, lockQuarantined, markResolved } from './store.ts';

export interface ResolvingDependencies {
  quarantine: Pick<Quarantine, 'open'>;
  rails: Pick<RailWork, 'lockFor' | 'applyAside'>;
  lockPayments: (tx: Queryable, keys: readonly { tenantId: string; id: string }[]) => Promise<Payment[]>;
  findPayment: (db: Queryable, key: { tenantId: string; id: string }) => Promise<Payment | undefined>;
  now: () => Date;
}

/** How the operator works off what was put aside, in the caller's transaction; each item once. `by` is who does it. */
export interface QuarantineResolving {
  /** Applies it to the payment that it belongs to, as if it had matched. Answers whose payment that is. */
  apply(
    tx: Queryable,
    id: string,
    paymentId: string,
    by: string,
  ): Promise<ListedQuarantined & { organisationId: string }>;
  dismiss(tx: Queryable, id: string, reason: string, by: string): Promise<ListedQuarantined>;
}

export function createQuarantineResolving(deps: ResolvingDependencies): QuarantineResolving {
  const { now } = deps;

  async function lockOpen(tx: Queryable, id: string) {
    const item = await lockQuarantined(tx, id);
    if (!item) throw errors.not_found({ detail: 'Nothing was put aside under this id.' });
    if (item.status !== 'open') throw errors.state_conflict({ detail: `It was ${item.status} before.` });
    return item;
  }

  return {
    async apply(tx, id, paymentId, by) {
      const item = await lockOpen(tx, id);
      const tenantId = await findTenantOf(tx, paymentId);
      const key = tenantId === undefined ? undefined : { tenantId, id: paymentId };
      const payment = key && (await deps.findPayment(tx, key));
      if (!key || !payment) throw errors.payment_not_found();
      refuseOtherMode(item.mode, key.tenantId);
      await deps.rails.lockFor(tx, payment);
      const [locked] = await deps.lockPayments(tx, [key]);
      if (!locked) throw errors.payment_not_found();
      const applied = await deps.rails.applyAside(tx, locked, deps.quarantine.open(item));
      if (!applied.ok) throw errors.quarantine_not_applicable({ detail: applied.reason });
      const resolved = await markResolved(tx, id, {
        ...{ status: 'applied', resolution: paymentId, by, at: now() },
      });
      return { ...resolved, organisationId: parseTenantId(key.tenantId).organisationId };
    },

    async dismiss(tx, id, reason, by) {
      await lockOpen(tx, id);
      return markResolved(tx, id, { status: 'dismissed', resolution: reason, by, at: now() });
    },
  };
}

/** What a sandbox sent must not move live money, nor the other way round. */
function refuseOtherMode(mode: Mode | null, tenantId: string): void {
  const { mode: ofPayment } = parseTenantId(tenantId);
  if (mode === null || mode === ofPayment) return;
  throw errors.quarantine_not_applicable({
    detail: `It came in ${mode} mode, and the payment is one of ${ofPayment} mode.`,
  });
}
