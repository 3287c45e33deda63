-- The sandbox's ACH operator: its own books, which know files and nothing of tenants or payments. A mailbox is one
-- line to it, as a bank gives each customer a folder.
create table sandbox_ach_files (
  mailbox text collate "C" not null,
  name text collate "C" not null,
  -- Origin, day and modifier: the bank takes each once.
  identity text collate "C" not null,
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
  reference text collate "C" not null,
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
  name text collate "C" not null,
  content text not null,
  created_at timestamptz not null,
  fetched_at timestamptz,
  primary key (mailbox, name)
);
create index sandbox_ach_outbox_waiting on sandbox_ach_outbox (mailbox, created_at) where fetched_at is null;

-- The sandbox's RTP network: its own books, which know messages and nothing of tenants or payments.
create sequence sandbox_rtp_serials maxvalue 99999999999999 cycle;
create table sandbox_rtp_transfers (
  instruction_id text collate "C" primary key,
  message_id text collate "C" not null unique,
  transaction_id text collate "C" not null,
  end_to_end_id text collate "C" not null,
  -- Times as the sender wrote them: the network lives in the time of whoever it answers.
  message_created_at text not null,
  settlement_date date not null,
  amount bigint not null check (amount > 0),
  instructing_agent text not null,
  instructed_agent text not null,
  debtor_agent text not null,
  creditor_agent text not null,
  status text not null check (status in ('ACTC', 'RJCT')),
  code text,
  -- Answers only to a status request.
  silent boolean not null,
  received_at timestamptz not null,
  -- The network has to recognise a transfer that comes again, not to know its accounts: a keyed mark will do.
  accounts_mark text not null,
  check ((status = 'RJCT') = (code is not null))
);
create index sandbox_rtp_transfers_settlement on sandbox_rtp_transfers using brin (settlement_date);

-- Outcomes that a developer ordered before the transfer arrived.
create table sandbox_rtp_orders (
  instruction_id text collate "C" primary key,
  status text not null check (status in ('ACTC', 'RJCT')),
  code text
);
