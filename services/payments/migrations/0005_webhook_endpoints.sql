-- Who is told of events. The deliveries themselves, log and queue in one, live in a schema of their own.
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
create trigger webhook_endpoints_changed after update on webhook_endpoints
  for each row when ((old.status, old.events) is distinct from (new.status, new.events))
  execute function tenant_row_changed();
create trigger webhook_endpoints_came_or_went after insert or delete on webhook_endpoints
  for each row execute function tenant_row_changed();
