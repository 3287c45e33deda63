import { groupByTenant, type Queryable, textArray, timestamptzArray } from '@libs/db';
import { ACCEPT_STATUS, type Acceptance } from './acceptance.ts';
import { paymentColumns } from './store.ts';

/** Until the commit, who changes the tenant waits for the payments that were accepted by what it was. */
export async function lockVersion(tx: Queryable, tenantId: string): Promise<number | undefined> {
  const { rows } = await tx.query<{ version: number }>(
    {
      name: 'payments.lock_version',
      text: 'select version from tenant_versions where tenant_id = $1 for share',
    },
    [tenantId],
  );
  return rows[0]?.version;
}

/** Ids of the events whose keys were free. */
export async function claimKeysApart(
  tx: Queryable,
  acceptances: readonly Acceptance[],
): Promise<Set<string>> {
  const claimed = new Set<string>();
  const withTenant = acceptances.map((acceptance) => ({
    ...acceptance,
    tenantId: acceptance.payment.tenantId,
  }));
  for (const [, ofTenant] of groupByTenant(withTenant)) {
    const { rows } = await tx.query<{ event_id: string }>({ name: 'payments.claim_keys', text: CLAIM_KEYS }, [
      textArray(ofTenant.map(({ tenantId }) => tenantId)),
      textArray(ofTenant.map(({ path }) => path)),
      textArray(ofTenant.map(({ key }) => key)),
      textArray(ofTenant.map(({ canonicalBody }) => canonicalBody)),
      textArray(ofTenant.map(({ event }) => event.id)),
      timestamptzArray(ofTenant.map(({ event }) => event.createdAt)),
    ]);
    for (const { event_id } of rows) claimed.add(event_id);
  }
  return claimed;
}

const CLAIM_KEYS = `
insert into idempotency_keys (tenant_id, path, key, fingerprint, event_id, status, created_at)
select tenant_id, path, key, sha256(convert_to(canonical_body, 'UTF8')), event_id, ${ACCEPT_STATUS}, accepted_at
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
  as input (tenant_id, path, key, canonical_body, event_id, accepted_at)
on conflict do nothing returning event_id`;

export async function insertPaymentsApart(tx: Queryable, accepted: readonly Acceptance[]): Promise<void> {
  const payments = accepted.map(({ payment }) => payment);
  await tx.query({ name: 'payments.insert', text: INSERT_PAYMENTS }, [
    textArray(payments.map((payment) => payment.tenantId)),
    ...paymentColumns(payments),
    textArray(accepted.map(({ event }) => event.data)),
    textArray(payments.map((payment) => payment.refundOf)),
  ]);
}

const INSERT_PAYMENTS = `
insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account,
  rail_selected, fallback, metadata, created_at, document, refund_of)
select tenant_id, id, 'pending', amount, source_id, destination_id, debit_account, credit_account, rail_selected,
  fallback, metadata, created_at, document, refund_of
from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::boolean[], $10::jsonb[], $11::timestamptz[], $12::text[], $13::text[])
  as input (tenant_id, id, amount, source_id, destination_id, debit_account, credit_account, rail_selected, fallback,
    metadata, created_at, document, refund_of)`;
