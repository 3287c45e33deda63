-- What the customers' accounts at the platforms are opened with. `sealed` opens only for its own customer, platform
-- and slot. `slot` is empty for a customer's one account per platform; rows of the customer 'internal' hold renewed
-- tokens of configured accounts, one slot each.
create table credentials (
  customer_id text collate "C" not null,
  platform text collate "C" not null,
  slot text collate "C" not null default '',
  account text not null,
  status text not null check (status in ('connected', 'expired')),
  sealed bytea not null,
  expires_at timestamptz,
  -- Whether it can be renewed without the customer.
  refreshable boolean not null,
  -- Grows with every change: a call that met a refusal knows whether someone else has renewed the token since.
  version bigint not null default 1,
  -- For configured accounts: which version of the settings the row grew from.
  seed text,
  -- Whoever holds the lease is the one that renews; it ends by itself when the holder dies.
  lease_id text collate "C",
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (customer_id, platform, slot)
);
-- Tokens that run out and that only the customer can replace.
create index credentials_running_out on credentials (expires_at, customer_id, platform)
  where status = 'connected' and not refreshable and slot = '';

-- A customer on the way to a vendor and back. The state is known to that browser alone and works once; of it and of the
-- session that began there are only hashes here.
create table connect_states (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  state_hash bytea not null,
  platform text collate "C" not null,
  provider text collate "C" not null,
  -- Null when a token began: then any session of the customer may end it.
  session_hash bytea,
  sealed_verifier bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, state_hash)
);
create index connect_states_expires_at on connect_states (expires_at);

-- The last look at a customer's accounts, or at the platforms as such, and who takes the next one. A report holds for
-- the accounts that it was made of: `accounts` is a digest of them, so that a changed credential makes it void.
create table health_reports (
  customer_id text collate "C" primary key,
  checked_at timestamptz,
  accounts text,
  platforms json,
  lease_id text collate "C",
  lease_until timestamptz
);
