/**
 * The table of waiting work, for a service's migrations. A job that is done is deleted; one that failed for good
 * stays, with `failed_at`, until someone looks at it.
 */
export const jobsSchema = `
create table jobs (
  id bigint generated always as identity primary key,
  name text not null,
  payload jsonb not null,
  key text,
  ready_at timestamptz not null,
  attempts int not null default 0,
  last_error text,
  failed_at timestamptz,
  created_at timestamptz not null default now()
);
create index jobs_ready on jobs (name, ready_at, id) where failed_at is null;
create unique index jobs_waiting_key on jobs (name, key) where key is not null and attempts = 0;
`;
