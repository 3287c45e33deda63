import { int8Array, type Queryable, textArray, timestamptzArray } from '@libs/db';
import type { PaymentsEvent } from '../events/event.ts';
import type { Transfer } from '../ledger/transfer.ts';

// Rows that are written with payments: on one server they are part of the statements that write those.

export async function insertEventsApart(tx: Queryable, events: readonly PaymentsEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query({ name: 'payments.insert_events', text: EVENTS }, [
    textArray(events.map((event) => event.tenantId)),
    textArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.type)),
    textArray(events.map((event) => event.subjectId)),
    textArray(events.map((event) => event.data)),
    timestamptzArray(events.map((event) => event.occurredAt)),
    timestamptzArray(events.map((event) => event.createdAt)),
  ]);
}

const EVENTS = `
insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])`;

export async function insertTransfersApart(tx: Queryable, transfers: readonly Transfer[]): Promise<void> {
  if (transfers.length === 0) return;
  await tx.query({ name: 'payments.insert_transfers', text: TRANSFERS }, [
    textArray(transfers.map((transfer) => transfer.tenantId)),
    textArray(transfers.map((transfer) => transfer.id)),
    textArray(transfers.map((transfer) => transfer.paymentId)),
    textArray(transfers.map((transfer) => transfer.kind)),
    textArray(transfers.map((transfer) => transfer.rail)),
    textArray(transfers.map((transfer) => transfer.debitAccount)),
    textArray(transfers.map((transfer) => transfer.creditAccount)),
    int8Array(transfers.map((transfer) => transfer.amount)),
    int8Array(transfers.map((transfer) => transfer.fee)),
    timestamptzArray(transfers.map((transfer) => transfer.createdAt)),
  ]);
}

const TRANSFERS = `
insert into ledger_transfers
  (tenant_id, id, payment_id, kind, rail, debit_account, credit_account, amount, fee, created_at)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
  $9::bigint[], $10::timestamptz[])`;
