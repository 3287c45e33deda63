-- Who uses the service: organisations, their keys, and the sandbox clock of each.

{{jobs}}

{{rate_limits}}

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
