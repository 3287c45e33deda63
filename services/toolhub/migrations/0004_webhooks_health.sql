-- Where a customer hears of events. The deliveries themselves, queue and log, live in a schema of their own.

{{deliveries}}

create table webhook_configs (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  webhook_url text not null,
  -- Null stands for every type of event, also those that come later.
  events text[],
  secret_sealed bytea not null,
  created_at timestamptz not null
);

-- What was emitted is what is sent: `json` keeps numbers, order and escapes that `jsonb` would rewrite or refuse.
alter table events alter column data type json using data::text::json;
create index events_created_at on events using brin (created_at);

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

-- Tokens that run out and that only the customer can replace.
create index credentials_running_out on credentials (expires_at, customer_id, platform)
  where status = 'connected' and not refreshable and slot = '';
