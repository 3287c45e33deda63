-- What a customer wants to be asked about before it happens; without a row nothing is.
create table approval_rules (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  send boolean not null,
  deletion boolean not null,
  -- Single tools by their names, for which the two above do not count.
  tools jsonb not null,
  updated_at timestamptz not null
);

-- Clients that need not ask again for a tool.
create table approval_remembered (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  client text collate "C" not null,
  tool text collate "C" not null,
  created_at timestamptz not null,
  primary key (customer_id, client, tool)
);

-- Calls that wait for a person, and what became of them. `arguments_hash` binds the answer to exactly this call.
create table approvals (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  client text collate "C" not null,
  client_name text not null,
  tool text collate "C" not null,
  platform text collate "C" not null,
  arguments_hash bytea not null,
  sealed_arguments bytea not null,
  -- The idempotency_key that the call came with.
  key text collate "C",
  status text collate "C" not null check (status in ('pending', 'allowed', 'denied', 'used')),
  -- The key under which it ran: whatever comes with it again gets the result of that run.
  used_key text collate "C",
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  primary key (customer_id, id)
);
create index approvals_key on approvals (customer_id, tool, key) where key is not null;
create index approvals_expires_at on approvals (expires_at);
