-- One leg of an ACH payment: the debit of an outside source, the credit of an outside destination, or the refund of
-- what was debited when the credit came back. `scope` says in whose time and in whose files it travels: `live`, `test`
-- (every test organisation without a clock), or the tenant whose clock it follows.
create table ach_entries (
  tenant_id text collate "C" not null,
  payment_id text collate "C" not null,
  attempt_id text collate "C" not null,
  leg text collate "C" not null check (leg in ('debit', 'credit', 'refund')),
  scope text collate "C" not null,
  -- `canceled` never left; `refused` was in a file that the bank did not take; `overruled` left, but the sandbox was
  -- told to end its payment otherwise.
  state text not null
    check (state in ('queued', 'sent', 'settled', 'returned', 'refused', 'canceled', 'overruled')),
  amount bigint not null check (amount > 0),
  same_day boolean not null,
  -- When the file with this entry leaves and when it settles, in the time of its scope.
  due_at timestamptz not null,
  settles_at timestamptz not null,
  trace text collate "C",
  -- Eight digits of the bank that it went to: an answer must come from there.
  rdfi text,
  file_id text collate "C",
  message_id text collate "C",
  return_code text,
  -- Debits that came back for want of money may be presented again; each presentment is an attempt of its own.
  presentment smallint not null default 0,
  primary key (tenant_id, payment_id, attempt_id, leg),
  check ((state in ('queued', 'canceled')) = (trace is null)),
  check (num_nulls(trace, rdfi, file_id, message_id) in (0, 4)),
  check (presentment between 0 and 2 and (presentment = 0 or leg = 'debit'))
);
create index ach_entries_queued on ach_entries (scope, due_at) where state = 'queued';
create index ach_entries_sent on ach_entries (scope, settles_at) where state = 'sent';
create index ach_entries_trace on ach_entries (scope, trace) where trace is not null;
create index ach_entries_file on ach_entries (file_id) where file_id is not null;
-- What stops a second worker from presenting a debit twice.
create unique index ach_entries_presented_again on ach_entries (tenant_id, payment_id, presentment)
  where presentment > 0;

-- Files that we send. They hold account numbers, so what is kept of them is sealed.
create table ach_files (
  id text collate "C" primary key,
  scope text collate "C" not null,
  name text collate "C" not null,
  content_sealed bytea not null,
  entries int not null,
  debit_total bigint not null,
  credit_total bigint not null,
  -- The time of its scope at which the file left.
  as_of timestamptz not null,
  created_at timestamptz not null,
  -- Set when all of it is at the bank, before the bank can see it.
  uploaded_at timestamptz,
  sent_at timestamptz,
  -- Why the bank took none of it.
  refusal text,
  unique (scope, name)
);
create index ach_files_unsent on ach_files (scope, id) where sent_at is null;
create index ach_files_as_of on ach_files (as_of);

-- Traces go on from day to day, so that a late answer finds one entry; files are counted by the day.
create table ach_counters (
  scope text collate "C" primary key,
  last_trace int not null,
  day date not null,
  files int not null
);

-- Files that came back and were read; the same content is read once.
create table ach_answers (
  id text collate "C" primary key,
  scope text collate "C" not null,
  name text not null,
  content_hash bytea not null,
  content_sealed bytea not null,
  as_of timestamptz not null,
  created_at timestamptz not null,
  -- Null until the network was told that we have it.
  acknowledged_at timestamptz,
  unique (scope, content_hash)
);

-- What those files said of each entry.
create table ach_replies (
  tenant_id text collate "C" not null,
  payment_id text collate "C" not null,
  id text collate "C" not null,
  attempt_id text collate "C" not null,
  leg text not null,
  kind text not null check (kind in ('return', 'noc')),
  code text not null,
  trace text collate "C" not null,
  answer_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (tenant_id, payment_id, id)
);
