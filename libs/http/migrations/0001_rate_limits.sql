-- The shared buckets of the rate limits. Unlogged: after a crash every bucket is full again, which is harmless.
create unlogged table rate_limit_buckets (
  key text collate "C" primary key,
  tokens double precision not null,
  rate double precision not null,
  burst double precision not null,
  updated_at timestamptz not null
);

create unlogged table rate_limit_processes (
  id text collate "C" primary key,
  seen_at timestamptz not null
);
