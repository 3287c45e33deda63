-- Who uses the service: organisations, their keys, and the sandbox clock of each.
create table organisations (
  id text collate "C" primary key,
  name text not null,
  -- The sandbox clock: frozen at a moment, or running on with an offset from real time, or neither.
  clock_frozen_at timestamptz,
  clock_offset_ms bigint,
  created_at timestamptz not null,
  check (clock_frozen_at is null or clock_offset_ms is null)
);

-- A key is looked up by its hash, before anything is known of its organisation.
create table api_keys (
  hash bytea primary key,
  id text collate "C" not null unique,
  organisation_id text collate "C" not null references organisations (id),
  mode text not null check (mode in ('test', 'live')),
  name text not null,
  hint text not null,
  scopes text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null
);
create index api_keys_of_organisation on api_keys (organisation_id, id);

-- Accepting a payment remembers what it must know of a tenant: its clock, its webhook endpoints, its payment methods.
-- The version counts the changes of these. The statement that accepts compares it with the one that was remembered, so
-- what any process has changed holds for the next payment in every other. Triggers raise it: no writer can forget to.
create table tenant_versions (
  tenant_id text collate "C" primary key,
  version bigint not null
);

-- For tables that begin with the tenant.
create function tenant_row_changed() returns trigger language plpgsql set search_path from current as $$
begin
  insert into tenant_versions as known (tenant_id, version) values (coalesce(new.tenant_id, old.tenant_id), 1)
  on conflict (tenant_id) do update set version = known.version + 1;
  return null;
end $$;

create function organisation_clock_changed() returns trigger language plpgsql set search_path from current as $$
begin
  insert into tenant_versions as known (tenant_id, version) values (new.id || '.test', 1)
  on conflict (tenant_id) do update set version = known.version + 1;
  return null;
end $$;
create trigger organisations_clock_changed after update on organisations
  for each row when ((old.clock_frozen_at, old.clock_offset_ms)
    is distinct from (new.clock_frozen_at, new.clock_offset_ms))
  execute function organisation_clock_changed();
