import type { Database, Queryable } from '@libs/db';
import { errors } from '../errors.ts';
import type { ByMode, Tenant } from '../tenant.ts';
import { hasOpenPayments, listPayments, type PaymentFilter } from './list-store.ts';
import type { Payment } from './payment.ts';
import { findPayment, type PaymentKey } from './store.ts';

/** Looks at payments and changes nothing, so that features on which payments lean can ask about them. */
export function createPaymentReading({ databases }: { databases: ByMode<Database> }) {
  return {
    async get(tenant: Tenant, id: string, db: Queryable = databases[tenant.mode]): Promise<Payment> {
      const payment = await findPayment(db, { tenantId: tenant.id, id });
      if (!payment) throw errors.not_found({ detail: 'There is no such payment.' });
      return payment;
    },

    find: (db: Queryable, key: PaymentKey): Promise<Payment | undefined> => findPayment(db, key),

    list: (tenant: Tenant, filter: PaymentFilter): Promise<Payment[]> =>
      listPayments(databases[tenant.mode], tenant.id, filter),

    /** Whether money is on its way from or to the payment method with this key. */
    useMethod: (db: Queryable, key: PaymentKey): Promise<boolean> => hasOpenPayments(db, key),
  };
}

export type PaymentReading = ReturnType<typeof createPaymentReading>;
