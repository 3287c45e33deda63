-- What moves money. Every table begins with the tenant (organisation and mode), so that test and live rows, and two
-- organisations, can only meet in a query that forgets its first condition.

create table payment_methods (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  type text not null check (type in ('bank_account', 'balance')),
  routing_number text,
  account_sealed bytea,
  account_last4 text,
  fingerprint text,
  account_type text check (account_type in ('checking', 'savings')),
  holder_name text,
  holder_type text check (holder_type in ('individual', 'business')),
  rails_send text[] not null,
  rails_receive text[] not null,
  metadata jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (tenant_id, id),
  check (type = 'balance' or (routing_number is not null and account_sealed is not null and fingerprint is not null
    and account_type is not null and holder_name is not null and holder_type is not null))
);
create index payment_methods_fingerprint on payment_methods (tenant_id, fingerprint) where fingerprint is not null;

create table payments (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  status text not null check (status in ({{payment_statuses}})),
  amount bigint not null check (amount between 1 and 9999999999),
  source_id text collate "C" not null,
  destination_id text collate "C" not null,
  -- Whose money moves: a balance held here, or the world outside (see the ledger).
  debit_account text collate "C" not null,
  credit_account text collate "C" not null,
  rail_selected text not null,
  fallback boolean not null,
  metadata jsonb not null,
  -- The time of the organisation's clock; the order of creation in real time is that of the ids.
  created_at timestamptz not null,
  -- The payment as the API shows it: the same bytes as in the response and in its last event.
  document text not null,
  primary key (tenant_id, id),
  check (source_id <> destination_id)
);
create index payments_by_source on payments (tenant_id, source_id, id);
create index payments_by_destination on payments (tenant_id, destination_id, id);
-- Most payments are completed: those are found in the order of the primary key without an index of their own.
create index payments_not_completed on payments (tenant_id, status, id) where status <> 'completed';
create index payments_by_metadata on payments using gin (metadata jsonb_path_ops) where metadata <> '{}';
create index payments_created on payments using brin (created_at);

-- The table of moves, enforced where every writer must pass.
create function check_payment_move() returns trigger language plpgsql as $$
begin
  if not ({{payment_moves}}) then
    raise exception 'payment % cannot go from % to %', old.id, old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger payments_move before update of status on payments
  for each row when (old.status is distinct from new.status) execute function check_payment_move();

create table idempotency_keys (
  tenant_id text collate "C" not null,
  path text not null,
  key text collate "C" not null,
  fingerprint bytea not null,
  -- A payment's first response is the data of its first event; other responses are kept here.
  event_id text collate "C",
  status smallint not null,
  response text,
  created_at timestamptz not null,
  primary key (tenant_id, path, key)
);
create index idempotency_keys_created on idempotency_keys using brin (created_at);

create table events (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  subject_id text collate "C" not null,
  -- The object as it was then, exactly as the API showed it.
  data text not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  primary key (tenant_id, id)
);
create index events_of_subject on events (tenant_id, subject_id, id);
create index events_created on events using brin (created_at);

-- Double entry in one row: what is taken from one account is given to the other, so every row sums to zero.
create table ledger_transfers (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  payment_id text collate "C",
  kind text not null check (kind in ('hold', 'post', 'release', 'reverse', 'fund')),
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

create function refuse_ledger_change() returns trigger language plpgsql as $$
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
