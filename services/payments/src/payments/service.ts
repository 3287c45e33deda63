import type { Database, Queryable } from '@libs/db';
import type { Clocks } from '../clock/service.ts';
import { errors } from '../errors.ts';
import type { PaymentsEvent } from '../events/event.ts';
import type { MethodKey, PaymentMethod } from '../payment-methods/method.ts';
import type { Routing } from '../routing/service.ts';
import type { Tenant } from '../tenant.ts';
import type { AcceptResponse } from './accept.ts';
import {
  type AcceptRequest,
  type MethodAtFirstUse,
  type PaymentInput,
  resolveMethods,
} from './accept-draft.ts';
import type { Payment } from './payment.ts';
import type { Processing } from './processing.ts';
import { routingRefusal } from './refusals.ts';
import { findPayment, listPayments, type PaymentFilter } from './store.ts';

export interface PaymentsDependencies {
  database: Database;
  accept: (request: AcceptRequest) => Promise<AcceptResponse>;
  processing: Processing;
  routing: Routing;
  findMethods: (db: Queryable, keys: readonly MethodKey[]) => Promise<PaymentMethod[]>;
  methodAtFirstUse: MethodAtFirstUse;
  insertMethods: (tx: Queryable, methods: readonly PaymentMethod[]) => Promise<PaymentsEvent[]>;
  deliverEvents: (tx: Queryable, events: readonly PaymentsEvent[]) => Promise<void>;
  clocks: Clocks;
}

export function createPaymentsService(deps: PaymentsDependencies) {
  const { database } = deps;

  async function get(tenant: Tenant, id: string, db: Queryable = database): Promise<Payment> {
    const payment = await findPayment(db, { tenantId: tenant.id, id });
    if (!payment) throw errors.not_found({ detail: 'There is no such payment.' });
    return payment;
  }

  return {
    create: deps.accept,
    get,

    list(tenant: Tenant, filter: PaymentFilter): Promise<Payment[]> {
      return listPayments(database, tenant.id, filter);
    },

    async cancel(tx: Queryable, tenant: Tenant, id: string): Promise<Payment> {
      const [canceled] = await deps.processing.changePayments(tx, [{ tenantId: tenant.id, id }], (payment) =>
        payment.status === 'pending' ? { by: 'canceled' } : null,
      );
      if (canceled) return canceled;
      const { status } = await get(tenant, id, tx);
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
      const found = await deps.findMethods(tx, keys);
      const at = (await deps.clocks.timesOf(tx, [tenant.id])).at(tenant.id);
      const methods = new Map(
        found.map((method) => [method.id, { ...method, isDeleted: method.deletedAt !== null }]),
      );
      const { source, destination, created } = resolveMethods(deps, { tenant, input, methods, at });
      const only = input.rail === 'auto' ? null : input.rail;
      const question = { mode: tenant.mode, amount: input.amount, source, destination, at };
      const decided = deps.routing.decide({ ...question, prefer: input.prefer, only });
      if (!decided.ok) throw routingRefusal(decided.candidates, only, tenant.mode);
      if (created.length > 0) await deps.deliverEvents(tx, await deps.insertMethods(tx, created));
      return decided;
    },
  };
}

export type PaymentsService = ReturnType<typeof createPaymentsService>;
