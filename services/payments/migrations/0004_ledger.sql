-- Double entry in one row: what is taken from one account is given to the other, so every row sums to zero.
create table ledger_transfers (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  payment_id text collate "C",
  kind text collate "C" not null check (kind in ('hold', 'post', 'release', 'reverse', 'fund')),
  rail text,
  debit_account text collate "C" not null,
  credit_account text collate "C" not null,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null,
  primary key (tenant_id, id),
  check (debit_account <> credit_account),
  check ((payment_id is null) = (kind = 'fund'))
);
-- Each thing happens to a payment's money once; this is what stops a second worker, a replay or a bug.
create unique index ledger_transfers_once on ledger_transfers (tenant_id, payment_id, kind) where payment_id is not null;
create index ledger_transfers_debit on ledger_transfers (tenant_id, debit_account, id) where debit_account like 'pm\_%';
create index ledger_transfers_credit on ledger_transfers (tenant_id, credit_account, id) where credit_account like 'pm\_%';

create function refuse_ledger_change() returns trigger language plpgsql set search_path from current as $$
begin
  raise exception 'the ledger is append-only';
end $$;
create trigger ledger_append_only before update or delete or truncate on ledger_transfers
  for each statement execute function refuse_ledger_change();

-- Money held here, one row per balance. `held` is promised to payments on their way, `incoming` is on its way in;
-- only a return may take more than there is, and then `owed` says how much.
create table ledger_balances (
  tenant_id text collate "C" not null,
  payment_method_id text collate "C" not null,
  currency text not null,
  posted bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  incoming bigint not null default 0 check (incoming >= 0),
  owed bigint not null default 0 check (owed >= 0),
  primary key (tenant_id, payment_method_id),
  constraint never_overdrawn check (posted - held + owed >= 0)
);
