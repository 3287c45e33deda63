-- Where money comes from and goes to. From here on every table that grows begins with the tenant (organisation and
-- mode), so that test and live rows, and two organisations, can only meet in a query that forgets its first condition.
create table payment_methods (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  type text not null check (type in ('bank_account', 'balance')),
  routing_number text,
  account_sealed bytea,
  account_last4 text,
  fingerprint text collate "C",
  account_type text check (account_type in ('checking', 'savings')),
  holder_name text,
  holder_type text check (holder_type in ('individual', 'business')),
  rails_send text[] not null,
  rails_receive text[] not null,
  metadata jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  -- Test accounts have ids of the callers' own; lists go by an id that tells the time.
  sort_id text collate "C" not null,
  primary key (tenant_id, id),
  check (type = 'balance' or (routing_number is not null and account_sealed is not null and fingerprint is not null
    and account_type is not null and holder_name is not null and holder_type is not null))
);
create index payment_methods_fingerprint on payment_methods (tenant_id, fingerprint) where fingerprint is not null;
create index payment_methods_listed on payment_methods (tenant_id, sort_id) where deleted_at is null;

-- A new payment method changes nothing that is remembered: that a method is missing never is.
create trigger payment_methods_changed after update on payment_methods
  for each row when ((old.deleted_at, old.type, old.rails_send, old.rails_receive)
    is distinct from (new.deleted_at, new.type, new.rails_send, new.rails_receive))
  execute function tenant_row_changed();
create trigger payment_methods_removed after delete on payment_methods
  for each row execute function tenant_row_changed();
