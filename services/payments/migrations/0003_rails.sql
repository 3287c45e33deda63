-- What went over the rails and what came back, kept as it was sent and received.

create table rail_messages (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  payment_id text collate "C" not null,
  rail text not null,
  direction text not null check (direction in ('out', 'in')),
  kind text not null check (kind in ('nacha', 'return', 'noc', 'pacs.008', 'pacs.002', 'pacs.028')),
  content text not null,
  created_at timestamptz not null,
  primary key (tenant_id, payment_id, id)
);

-- The networks answer by their own references, without knowing our tenants.
create table rail_references (
  reference text collate "C" primary key,
  tenant_id text collate "C" not null,
  payment_id text collate "C" not null,
  attempt_id text collate "C" not null
);

-- What a network sent that could not be read or matched: kept whole, with the reason, for a person to look at.
create table rail_quarantine (
  id text collate "C" primary key,
  rail text not null,
  content text not null,
  reason text not null,
  received_at timestamptz not null
);

-- ACH ---------------------------------------------------------------------------------------------------------------

-- One leg of an ACH payment: the debit of an outside source, the credit of an outside destination, or the refund of
-- what was debited when the credit came back. `scope` says in whose time and in whose files it travels: `live`, `test`
-- (every test organisation without a clock), or the tenant whose clock it follows.
create table ach_entries (
  tenant_id text collate "C" not null,
  payment_id text collate "C" not null,
  attempt_id text collate "C" not null,
  leg text not null check (leg in ('debit', 'credit', 'refund')),
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
  primary key (tenant_id, payment_id, attempt_id, leg),
  check ((state in ('queued', 'canceled')) = (trace is null)),
  check (num_nulls(trace, rdfi, file_id, message_id) in (0, 4))
);
create index ach_entries_queued on ach_entries (scope, due_at) where state = 'queued';
create index ach_entries_sent on ach_entries (scope, settles_at) where state = 'sent';
create index ach_entries_trace on ach_entries (scope, trace) where trace is not null;
create index ach_entries_file on ach_entries (file_id) where file_id is not null;

-- Files that we send. They hold account numbers, so what is kept of them is sealed.
create table ach_files (
  id text collate "C" primary key,
  scope text collate "C" not null,
  name text not null,
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

-- The sandbox's ACH operator: its own books, which know files and nothing of tenants or payments. A mailbox is one
-- line to it, as a bank gives each customer a folder.
create table sandbox_ach_files (
  mailbox text collate "C" not null,
  name text not null,
  -- Origin, day and modifier: the bank takes each once.
  identity text not null,
  content_hash bytea not null,
  received_at timestamptz not null,
  refusals jsonb,
  primary key (mailbox, name)
);
create unique index sandbox_ach_files_identity on sandbox_ach_files (mailbox, identity) where refusals is null;

create table sandbox_ach_entries (
  mailbox text collate "C" not null,
  trace text collate "C" not null,
  -- The day of the file: a trace may come again on another day.
  day date not null,
  direction text not null check (direction in ('debit', 'credit')),
  amount bigint not null check (amount > 0),
  reference text not null,
  settles_at timestamptz not null,
  returned_at timestamptz,
  return_code text,
  primary key (mailbox, trace, day)
);
create index sandbox_ach_entries_reference on sandbox_ach_entries (mailbox, reference);
create index sandbox_ach_entries_day on sandbox_ach_entries (day);

-- What it will answer and when, with the entry as it was received.
create table sandbox_ach_answers (
  mailbox text collate "C" not null,
  id bigint generated always as identity,
  due_at timestamptz not null,
  kind text not null check (kind in ('return', 'noc')),
  code text not null,
  trace text collate "C" not null,
  day date not null,
  original json not null,
  outbox_name text,
  primary key (mailbox, id)
);
create index sandbox_ach_answers_due on sandbox_ach_answers (mailbox, due_at) where outbox_name is null;

-- Files that wait to be fetched.
create table sandbox_ach_outbox (
  mailbox text collate "C" not null,
  name text not null,
  content text not null,
  created_at timestamptz not null,
  fetched_at timestamptz,
  primary key (mailbox, name)
);
create index sandbox_ach_outbox_waiting on sandbox_ach_outbox (mailbox, created_at) where fetched_at is null;

-- What our entries and the network's books said of a day, and where they differ.
create table reconciliations (
  day date not null,
  rail text not null,
  mode text not null,
  agrees boolean not null,
  report json not null,
  made_at timestamptz not null,
  primary key (day, rail, mode)
);

-- Whether a rail is up; one that fails or is signed off is not chosen until it recovers.
create table rail_health (
  rail text not null,
  mode text not null,
  state text not null check (state in ('up', 'down')),
  reason text,
  changed_at timestamptz not null,
  primary key (rail, mode)
);

-- RTP ---------------------------------------------------------------------------------------------------------------

-- Serial numbers of our messages and instructions. They stand behind the date in an identifier, so starting over after
-- a hundred thousand million of them repeats none.
create sequence rtp_serials maxvalue 99999999999 cycle;

-- One row per instruction: what became of it, and what is needed to ask after it. Timers are jobs, so that no index
-- changes when the state does: both updates in the life of an ordinary row stay within its page.
create table rtp_submissions (
  tenant_id text collate "C" not null,
  instruction_id text collate "C" not null,
  payment_id text collate "C" not null,
  attempt_id text collate "C" not null,
  -- The transfer as it was written, in `rail_messages`; and what the network calls that message.
  stored_message_id text collate "C" not null,
  message_id text collate "C" not null,
  amount bigint not null check (amount > 0),
  settlement_date date not null,
  state text not null check (state in ('sent', 'unknown', 'accepted', 'rejected', 'not_sent')),
  -- Real time; null until the message is handed over for the first time.
  first_sent_at timestamptz,
  due_at timestamptz,
  inquiries smallint not null,
  resends smallint not null,
  reject_code text,
  primary key (tenant_id, instruction_id)
) with (fillfactor = 50);
create index rtp_submissions_settlement on rtp_submissions using brin (settlement_date);

-- The sandbox's RTP network: its own books, which know messages and nothing of tenants or payments.
create sequence sandbox_rtp_serials maxvalue 99999999999999 cycle;
create table sandbox_rtp_transfers (
  instruction_id text collate "C" primary key,
  message_id text collate "C" not null unique,
  transaction_id text not null,
  end_to_end_id text not null,
  -- Times as the sender wrote them: the network lives in the time of whoever it answers.
  message_created_at text not null,
  settlement_date date not null,
  amount bigint not null check (amount > 0),
  instructing_agent text not null,
  instructed_agent text not null,
  debtor_agent text not null,
  debtor_account text not null,
  creditor_agent text not null,
  creditor_account text not null,
  status text not null check (status in ('ACTC', 'RJCT')),
  code text,
  -- Answers only to a status request.
  silent boolean not null,
  received_at timestamptz not null,
  check ((status = 'RJCT') = (code is not null))
);
create index sandbox_rtp_transfers_settlement on sandbox_rtp_transfers using brin (settlement_date);

-- Outcomes that a developer ordered before the transfer arrived.
create table sandbox_rtp_orders (
  instruction_id text collate "C" primary key,
  status text not null check (status in ('ACTC', 'RJCT')),
  code text
);
