-- Ids tell when an event was made, not when it was committed: one with an earlier id may appear later. A stream that is
-- resumed goes by the transaction instead, and stops before the oldest one that is still open.
alter table events add column txid xid8 not null default pg_current_xact_id();
create index events_in_order on events (tenant_id, txid);
