-- Figures of a tenant's payments by the hour in which they were accepted, for tenants whose overview was asked for.
-- They follow the events, in the order of transactions, so that nothing in the way of a payment has to count.
create table overview_places (
  tenant_id text collate "C" primary key,
  -- Everything up to this event is counted.
  txid xid8 not null,
  event_id text collate "C" not null
);

create table payment_figures (
  tenant_id text collate "C" not null,
  hour timestamptz not null,
  rail text collate "C" not null,
  status text collate "C" not null,
  payments bigint not null,
  amount bigint not null,
  primary key (tenant_id, hour, rail, status)
);

-- How many of them took how long to complete, in steps that grow with the time.
create table payment_settle_times (
  tenant_id text collate "C" not null,
  hour timestamptz not null,
  step smallint not null,
  payments bigint not null,
  primary key (tenant_id, hour, step)
);

-- What is owed is read often and changes seldom.
create index ledger_transfers_owed on ledger_transfers (tenant_id) include (kind, amount) where kind in ('owe', 'repay');
create index ledger_balances_owed on ledger_balances (tenant_id) include (owed) where owed > 0;
