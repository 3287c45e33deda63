// Which way a list is found depends on how many payments have something in common; what is found must not.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { newId } from '@libs/seal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { paymentsMigrations } from '../migrations.ts';
import { hasOpenPayments, listPayments, type PaymentFilter } from './list-store.ts';
import { type Payment, toApi } from './payment.ts';
import { type PaymentStatus, paymentStatuses } from './states.ts';
import { aPayment } from './test/a-payment.ts';

const BEGAN_MS = Date.UTC(2026, 10, 1);
const SECOND_MS = 1_000;
const METHODS = ['pm_one', 'pm_two', 'pm_three', 'pm_unused'] as const;

/** As often as each is there: some are few enough to be looked at one by one, some are not. */
const busy: Record<PaymentStatus, number> = {
  ...{ pending: 700, processing: 900, completed: 1_500, failed: 1_100, canceled: 3, returned: 1 },
};
const quiet: Record<PaymentStatus, number> = {
  ...{ pending: 1, processing: 4, completed: 60, failed: 7, canceled: 0, returned: 2 },
};

/** The same every time, and mixed: each is at a place of its own between the others. */
function paymentsOf(tenantId: string, counts: Record<PaymentStatus, number>): Payment[] {
  const statuses = paymentStatuses
    .flatMap((status) => Array.from({ length: counts[status] }, (_, n) => ({ status, n })))
    .sort((a, b) => ((a.n * 7_919) % 1_009) - ((b.n * 7_919) % 1_009));
  return statuses.map(({ status }, n) => {
    const createdAt = new Date(BEGAN_MS + n * SECOND_MS);
    const isUnderWay = status === 'pending' || status === 'processing';
    return aPayment({
      ...{ tenantId, status, createdAt, updatedAt: createdAt },
      id: newId('pay', createdAt.getTime(), () => Buffer.alloc(16, n % 256)),
      // The third is never under way.
      sourceId: n % 5 === 0 && !isUnderWay ? 'pm_three' : METHODS[n % 2]!,
      destinationId: n % 11 === 0 ? METHODS[(n + 1) % 2]! : 'pm_elsewhere',
      railSelected: n % 3 === 0 ? 'ach' : 'rtp',
      metadata: n % 4 === 0 ? { order: String(n % 8) } : {},
    });
  });
}

let made: TestDatabase;
const stored = new Map([
  ['org_busy.test', paymentsOf('org_busy.test', busy)],
  ['org_quiet.test', paymentsOf('org_quiet.test', quiet)],
]);

async function store(payments: readonly Payment[]): Promise<void> {
  const rows = payments.map((payment) => ({
    ...{ tenant_id: payment.tenantId, id: payment.id, status: payment.status, amount: payment.amount },
    ...{ source_id: payment.sourceId, destination_id: payment.destinationId },
    ...{ rail: payment.railSelected, metadata: payment.metadata, created_at: payment.createdAt },
    document: JSON.stringify(toApi(payment)),
  }));
  await made.database.query(
    `insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account,
       rail_selected, fallback, metadata, created_at, document)
     select tenant_id, id, status, amount, source_id, destination_id, 'a', 'b', rail, true, metadata, created_at, document
     from jsonb_to_recordset($1) as row (tenant_id text, id text, status text, amount bigint, source_id text,
       destination_id text, rail text, metadata jsonb, created_at timestamptz, document text)`,
    [JSON.stringify(rows)],
  );
}

beforeAll(async () => {
  made = await createTestDatabase(paymentsMigrations());
  for (const payments of stored.values()) await store(payments);
});
afterAll(() => made.drop());

const everything: PaymentFilter = {
  ...{ status: null, rail: null, paymentMethod: null, createdAfter: null, createdBefore: null },
  ...{ metadata: null, idPrefix: null, refundOf: null, beforeId: null, limit: 400 },
};

/** Every combination of what may be asked for. */
function* filters(): Generator<PaymentFilter> {
  for (const status of [null, ...paymentStatuses])
    for (const paymentMethod of [null, 'pm_one', 'pm_three'])
      for (const metadata of [null, { order: '4' }])
        for (const rail of [null, 'ach'])
          for (const minutes of [null, [5, 40] as const])
            yield {
              ...everything,
              ...{ status, paymentMethod, metadata, rail },
              createdAfter: minutes && new Date(BEGAN_MS + minutes[0] * 60 * SECOND_MS),
              createdBefore: minutes && new Date(BEGAN_MS + minutes[1] * 60 * SECOND_MS),
            };
}

/** As the words of the filter say, without a database. */
function isWanted(payment: Payment, filter: PaymentFilter): boolean {
  return (
    (filter.status ?? payment.status) === payment.status &&
    (filter.rail ?? payment.railSelected) === payment.railSelected &&
    [payment.sourceId, payment.destinationId].includes(filter.paymentMethod ?? payment.sourceId) &&
    payment.createdAt >= (filter.createdAfter ?? payment.createdAt) &&
    (filter.createdBefore === null || payment.createdAt < filter.createdBefore) &&
    Object.entries(filter.metadata ?? {}).every(([name, value]) => payment.metadata[name] === value)
  );
}

async function readPages(tenantId: string, filter: PaymentFilter): Promise<string[]> {
  const ids: string[] = [];
  for (let beforeId: string | null = null; ; ) {
    const page = await listPayments(made.database, tenantId, { ...filter, beforeId });
    ids.push(...page.map(({ id }) => id));
    if (page.length < filter.limit) return ids;
    beforeId = ids.at(-1) ?? null;
  }
}

describe.each([...stored.keys()])('%s', (tenantId) => {
  const payments = stored.get(tenantId) ?? [];

  test('[P-4.8] every filter with every other finds what it says, newest first, each payment on one page', async () => {
    let found = 0;
    for (const filter of filters()) {
      const wanted = payments.filter((payment) => isWanted(payment, filter)).map(({ id }) => id);
      expect([filter, await readPages(tenantId, filter)]).toEqual([filter, wanted.sort().reverse()]);
      found += wanted.length > 0 ? 1 : 0;
    }
    expect(found).toBeGreaterThan(40);
  });

  test('[P-4.25] a method is in use while a payment from or to it is under way', async () => {
    for (const id of METHODS) {
      const isInUse = payments.some(
        ({ status, sourceId, destinationId }) =>
          (status === 'pending' || status === 'processing') && [sourceId, destinationId].includes(id),
      );
      expect([id, await hasOpenPayments(made.database, { tenantId, id })]).toEqual([id, isInUse]);
    }
    expect(await hasOpenPayments(made.database, { tenantId: 'org_none.test', id: 'pm_one' })).toBe(false);
  });
});
