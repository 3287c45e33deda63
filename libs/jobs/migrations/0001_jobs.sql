-- Work that waits. A job that is done is deleted; one that failed for good stays, with `failed_at`, until someone looks
-- at it.
create table jobs (
  id bigint generated always as identity primary key,
  name text collate "C" not null,
  payload jsonb not null,
  key text collate "C",
  ready_at timestamptz not null,
  attempts int not null default 0,
  last_error text,
  failed_at timestamptz,
  created_at timestamptz not null default now()
);
create index jobs_ready on jobs (name, ready_at, id) where failed_at is null;
create unique index jobs_waiting_key on jobs (name, key) where key is not null and attempts = 0;

-- For statements that write their job together with everything else. Its path is this schema, so that is whose workers
-- are woken, whoever calls; the value means nothing, it is there because a select list wants one.
create function enqueue_job(job_name text, job_payload jsonb, run_at timestamptz) returns int language sql
set search_path from current as $$
  insert into jobs (name, payload, ready_at) values (job_name, job_payload, run_at);
  select 1 from pg_notify(current_schema() || '_jobs', job_name);
$$;
