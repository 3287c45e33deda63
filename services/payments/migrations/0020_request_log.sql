-- Calls of the last days, for developers who look for a mistake. A day is a part of its own, which the process that first
-- writes to it makes, and which is dropped as a whole.
create table request_logs (
  tenant_id text collate "C" not null,
  day date not null,
  id text collate "C" not null,
  at timestamptz not null,
  request_id text collate "C" not null,
  key_id text collate "C",
  user_id text collate "C",
  method text not null,
  path text not null,
  query text,
  status integer not null,
  duration_ms integer not null,
  ip text not null,
  api_version text not null,
  idempotency_key text,
  -- JSON without account numbers, names and secrets, as it is shown.
  request_body text,
  request_bytes bigint not null,
  response_body text,
  response_bytes bigint not null,
  primary key (tenant_id, day, id)
) partition by range (day);
create index request_logs_failed on request_logs (tenant_id, day, id) where status >= 400;
create index request_logs_request on request_logs (tenant_id, day, request_id);

-- How many more there were.
create table request_logs_left_out (
  tenant_id text collate "C" not null,
  day date not null,
  calls bigint not null,
  primary key (tenant_id, day)
);
