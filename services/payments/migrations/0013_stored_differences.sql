-- Where the books of a rail and ours parted: one row for each difference, from when it was first seen until it went away.
create table reconciliation_differences (
  id text collate "C" primary key,
  rail text collate "C" not null,
  mode text collate "C" not null,
  kind text collate "C" not null,
  -- Reference, tenant and payment in one text, since each of them may be missing.
  subject text collate "C" not null,
  -- The earliest day on which it shows.
  day date not null,
  reference text collate "C",
  tenant_id text collate "C",
  payment_id text collate "C",
  ours text,
  theirs text,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  resolved_at timestamptz,
  unique (rail, mode, kind, subject)
);
create index reconciliation_differences_open on reconciliation_differences (rail, mode, day) where resolved_at is null;
create index reconciliation_differences_listed on reconciliation_differences ((resolved_at is null), id);

-- Up to which moment answers of a network have been looked at; written when all days of a run were.
create table reconciliation_runs (
  rail text collate "C" not null,
  mode text collate "C" not null,
  started_at timestamptz not null,
  primary key (rail, mode)
);

-- Outcomes of that day may still come, however old it is.
alter table reconciliations add column unfinished boolean not null default false;
create index reconciliations_unfinished on reconciliations (rail, mode, day) where unfinished;

-- Answers that came since the last look lead to the days that they change.
create index ach_answers_created on ach_answers (created_at);
create index ach_replies_answer on ach_replies (answer_id);
