/** A lower-case name, because it is put into SQL as it stands. */
export function checkSchemaName(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(name)) throw new TypeError(`${name} is not a plain schema name`);
  return name;
}

/** Where new and retried deliveries are announced. */
export function deliveryChannel(schema: string): string {
  return `${checkSchemaName(schema)}_due`;
}

/**
 * The tables, for a service's own migrations.
 *
 * A delivery is in `queue` as long as a try may follow, and then, once and for all, in `deliveries`. So adding one costs
 * a single narrow row, the log is never updated, and what is read over and over stays small. That a process works on a
 * row is said by `lanes`, once per endpoint; nothing is written between the adding of a row and the end of its try.
 */
export function deliverySchema(schemaName: string): string {
  const schema = checkSchemaName(schemaName);
  return `create schema if not exists ${schema};

create table ${schema}.queue (
  tenant_id text not null,
  id text not null,
  endpoint_id text not null,
  event_id text not null,
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

create index queue_due on ${schema}.queue (tenant_id, endpoint_id, due_at, id);

create table ${schema}.deliveries (
  tenant_id text not null,
  id text not null,
  endpoint_id text not null,
  event_id text not null,
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

create index deliveries_by_endpoint on ${schema}.deliveries (tenant_id, endpoint_id, id);
create index deliveries_dead on ${schema}.deliveries (tenant_id, id) where status = 'dead';
create index deliveries_expiring on ${schema}.deliveries (expires_at) where expires_at is not null;
create index deliveries_finished on ${schema}.deliveries using brin (finished_at);

-- Holds an endpoint from its first failure until its next success.
create table ${schema}.failing_endpoints (
  tenant_id text not null,
  endpoint_id text not null,
  failing_since timestamptz not null,
  primary key (tenant_id, endpoint_id)
);

-- Processes that send. Each holds an advisory lock of its name as long as it lives.
create table ${schema}.dispatchers (
  id text primary key,
  seen_at timestamptz not null
);

-- Endpoints that a process works on: it alone sends to them.
create table ${schema}.lanes (
  tenant_id text not null,
  endpoint_id text not null,
  owner text not null,
  primary key (tenant_id, endpoint_id)
);
`;
}
