-- Sums of accounts that are no balance (the world outside, fees, what is owed), up to a transfer that is old enough for all
-- before it to have been committed. What came later is added when somebody asks, so that asking costs the same for ever.
create table ledger_places (
  tenant_id text collate "C" primary key,
  -- Everything up to this transfer is in the sums.
  transfer_id text collate "C" not null
);
create table ledger_sums (
  tenant_id text collate "C" not null,
  account text collate "C" not null,
  posted bigint not null,
  pending bigint not null,
  primary key (tenant_id, account)
);

-- The last proof of large books, which is not made anew at every question.
create table ledger_proofs (
  tenant_id text collate "C" primary key,
  checked_at timestamptz not null,
  transfers bigint not null,
  took_ms bigint not null,
  checks jsonb not null
);

-- Fees by the day on which they were booked, up to the same transfer.
create table ledger_fees (
  tenant_id text collate "C" not null,
  day date not null,
  rail text collate "C" not null,
  payments bigint not null,
  amount bigint not null,
  primary key (tenant_id, day, rail)
);
