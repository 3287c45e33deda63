-- A delivery is in `queue` as long as a try may follow, and then, once and for all, in `deliveries`. So adding one costs
-- a single narrow row, the log is never updated, and what is read over and over stays small. That a process works on a
-- row is said by `lanes`, once per endpoint; nothing is written between the adding of a row and the end of its try.
create table queue (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  due_at timestamptz not null default now(),
  tries integer not null default 0,
  step smallint not null default 0,
  early boolean not null default false,
  attempts jsonb not null default '[]',
  url text,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.1);
create index queue_due on queue (tenant_id, endpoint_id, due_at, id);

create table deliveries (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  status text not null check (status in ('delivered', 'failed', 'abandoned', 'dead')),
  tries integer not null,
  attempts jsonb not null,
  url text,
  created_at timestamptz not null,
  finished_at timestamptz not null,
  expires_at timestamptz,
  primary key (tenant_id, id)
);
create index deliveries_by_endpoint on deliveries (tenant_id, endpoint_id, id);
create index deliveries_dead on deliveries (tenant_id, id) where status = 'dead';
create index deliveries_expiring on deliveries (expires_at) where expires_at is not null;
create index deliveries_finished on deliveries using brin (finished_at);

-- Holds an endpoint from its first failure until its next success.
create table failing_endpoints (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  failing_since timestamptz not null,
  primary key (tenant_id, endpoint_id)
);

-- Processes that send. Each holds an advisory lock of its name as long as it lives.
create table dispatchers (
  id text collate "C" primary key,
  seen_at timestamptz not null
);

-- Endpoints that a process works on: it alone sends to them.
create table lanes (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  owner text collate "C" not null,
  primary key (tenant_id, endpoint_id)
);
