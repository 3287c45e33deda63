-- What a customer switched off; everything else is on.
create table tool_switches (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  kind text collate "C" not null check (kind in ('platform', 'tool')),
  name text collate "C" not null,
  switched_off_at timestamptz not null,
  primary key (customer_id, kind, name)
);

-- Calls that carry an idempotency_key. The row is written before the platform is called and its result after, so a
-- row without a result whose holder is gone tells that nobody knows what happened: such a key sends nothing again.
create table idempotent_calls (
  customer_id text collate "C" not null,
  tool text collate "C" not null,
  key text collate "C" not null,
  arguments_hash bytea not null,
  holder text collate "C" not null,
  result text,
  expires_at timestamptz not null,
  primary key (customer_id, tool, key)
);
create index idempotent_calls_expires_at on idempotent_calls (expires_at);

-- A process that holds reservations. While it lives it moves `expires_at` on; when it is gone, the sweep deletes the
-- row and gives back what it held.
create table call_holders (
  id text collate "C" primary key,
  expires_at timestamptz not null
);
create index call_holders_expires_at on call_holders (expires_at);

-- `used` counts the calls that were kept and those that are reserved: it is what the gate compares with the limit.
-- `asked`, `granted` and `stop_at` are those of the last reservation, so that one statement can decide and tell.
-- The room in each page lets a hot row be rewritten in place.
create table usage_counters (
  customer_id text collate "C" not null,
  month date not null,
  used bigint not null,
  kept bigint not null default 0,
  asked bigint not null default 0,
  granted bigint not null default 0,
  stop_at bigint,
  -- The highest threshold of this month's limit that an event has told of.
  notified_percent int not null default 0,
  primary key (customer_id, month)
) with (fillfactor = 50);

create table usage_reservations (
  customer_id text collate "C" not null,
  month date not null,
  holder text collate "C" not null,
  units bigint not null,
  primary key (customer_id, month, holder)
) with (fillfactor = 50);
create index usage_reservations_holder on usage_reservations (holder);

-- Calls per day, tool and class of duration: sums of it answer every question of the usage page, to the call.
-- Sessions that belong to no customer are counted under `internal`.
create table usage_daily (
  customer_id text collate "C" not null,
  day date not null,
  tool text collate "C" not null,
  duration_class smallint not null,
  platform text collate "C" not null,
  calls bigint not null,
  errors bigint not null,
  primary key (customer_id, day, tool, duration_class)
) with (fillfactor = 70);
