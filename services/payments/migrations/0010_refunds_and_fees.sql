-- A refund is a payment the other way, which says what it gives back.
alter table payments add column refund_of text collate "C";
create index payments_refunds on payments (tenant_id, refund_of) where refund_of is not null;

-- What the organisation owes for a payment is booked with the entry that completes it: one row, four entries.
alter table ledger_transfers add column fee bigint not null default 0;
alter table ledger_transfers add constraint ledger_transfers_fee check (fee = 0 or (fee > 0 and kind = 'post'));
create index ledger_transfers_created on ledger_transfers using brin (created_at);
