-- Who is told of events. The deliveries themselves, log and queue in one, live in a schema of their own.

{{deliveries}}

create table webhook_endpoints (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  url text not null,
  -- Types of events, or `*` for all of them.
  events text[] not null,
  description text,
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text,
  -- The secrets that sign, newest first, each with its end; sealed as a whole.
  secrets_sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  check ((status = 'disabled') = (disabled_reason is not null))
);

-- Test accounts have ids of the callers' own; lists go by an id that tells the time.
alter table payment_methods add column sort_id text collate "C";
update payment_methods set sort_id = id;
alter table payment_methods alter column sort_id set not null;
create index payment_methods_listed on payment_methods (tenant_id, sort_id) where deleted_at is null;
