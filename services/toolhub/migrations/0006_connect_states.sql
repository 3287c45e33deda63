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
