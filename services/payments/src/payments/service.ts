import type { Database, Queryable } from '@libs/db';
import type { Clocks } from '../clock/service.ts';
import { errors } from '../errors.ts';
import type { PaymentMethods } from '../payment-methods/service.ts';
import type { Routing } from '../routing/service.ts';
import type { Tenant } from '../tenant.ts';
import type { SubscriptionService } from '../webhooks/subscriptions.ts';
import type { Accept } from './accept/accept.ts';
import { type PaymentInput, resolveMethods } from './accept/draft.ts';
import type { Payment } from './payment.ts';
import type { Processing } from './processing.ts';
import type { PaymentReading } from './reading.ts';
import { routingRefusal } from './refusals.ts';

export interface PaymentsDependencies {
  database: Database;
  accept: Accept;
  reading: PaymentReading;
  processing: Pick<Processing, 'changePayments'>;
  routing: Pick<Routing, 'decide'>;
  paymentMethods: Pick<PaymentMethods, 'find' | 'atFirstUse' | 'insert'>;
  subscriptions: Pick<SubscriptionService, 'deliver'>;
  clocks: Pick<Clocks, 'timesOf'>;
}

export function createPaymentsService(deps: PaymentsDependencies) {
  const { reading, paymentMethods } = deps;
  return {
    create: deps.accept,
    get: reading.get,
    list: reading.list,

    async cancel(tx: Queryable, tenant: Tenant, id: string): Promise<Payment> {
      const [canceled] = await deps.processing.changePayments(tx, [{ tenantId: tenant.id, id }], (payment) =>
        payment.status === 'pending' ? { by: 'canceled' } : null,
      );
      if (canceled) return canceled;
      const { status } = await reading.get(tenant, id, tx);
      throw errors.payment_not_cancelable({
        detail: `The payment is ${status}; only a pending one can be canceled.`,
        extra: { payment_status: status },
      });
    },

    /** The decision that a payment would get now, without a payment. */
    async quote(
      tx: Queryable,
      tenant: Tenant,
      input: Omit<PaymentInput, 'description' | 'metadata' | 'fallback'>,
    ) {
      const keys = [input.sourceId, input.destinationId].map((id) => ({ tenantId: tenant.id, id }));
      const found = await paymentMethods.find(tx, keys);
      const at = (await deps.clocks.timesOf(tx, [tenant.id])).at(tenant.id);
      const methods = new Map(
        found.map((method) => [method.id, { ...method, isDeleted: method.deletedAt !== null }]),
      );
      const { source, destination, created } = resolveMethods(deps, { tenant, input, methods, at });
      const only = input.rail === 'auto' ? null : input.rail;
      const question = { mode: tenant.mode, amount: input.amount, source, destination, at };
      const decided = deps.routing.decide({ ...question, prefer: input.prefer, only });
      if (!decided.ok) throw routingRefusal(decided.candidates, only, tenant.mode);
      if (created.length > 0) await deps.subscriptions.deliver(tx, await paymentMethods.insert(tx, created));
      return decided;
    },
  };
}

export type PaymentsService = ReturnType<typeof createPaymentsService>;
