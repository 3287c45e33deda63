-- The tables of the login library beside those that were here before it: what a service remembers with a session, and
-- the keys that people's devices hold.
alter table sessions add column context text collate "C";

create table passkeys (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  credential_id text collate "C" not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  primary key (customer_id, id),
  unique (customer_id, credential_id)
);

-- What a device is asked to sign: for one browser, once, for minutes. Nobody may be logged in yet.
create table passkey_challenges (
  browser_hash bytea primary key,
  kind text collate "C" not null check (kind in ('register', 'log_in', 'second_factor')),
  -- Null where the device itself says who it is.
  customer_id text collate "C",
  challenge text not null,
  expires_at timestamptz not null
);
create index passkey_challenges_expires_at on passkey_challenges (expires_at);
