create table audit_entries (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  at timestamptz not null,
  actor_type text not null,
  actor_id text collate "C" not null,
  action text not null,
  target text,
  outcome text not null,
  ip text,
  request_id text collate "C",
  primary key (customer_id, id)
);

-- The outbox: rows are written in the transaction of the change that they announce. What was emitted is what is sent:
-- `json` keeps numbers, order and escapes that `jsonb` would rewrite or refuse.
create table events (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  data json not null,
  created_at timestamptz not null,
  primary key (customer_id, id)
);
create index events_created_at on events using brin (created_at);

-- Where a customer hears of events. The deliveries themselves, queue and log, live in a schema of their own.
create table webhook_configs (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  webhook_url text not null,
  -- Null stands for every type of event, also those that come later.
  events text[],
  secret_sealed bytea not null,
  created_at timestamptz not null
);
