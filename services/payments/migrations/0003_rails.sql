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

-- One leg of an ACH payment: the debit of an outside source, or the credit of an outside destination.
create table ach_entries (
  tenant_id text collate "C" not null,
  payment_id text collate "C" not null,
  attempt_id text collate "C" not null,
  leg text not null check (leg in ('debit', 'credit')),
  state text not null check (state in ('queued', 'sent', 'settled', 'returned', 'canceled')),
  amount bigint not null,
  same_day boolean not null,
  -- When the file with this entry leaves and when it settles, in the organisation's time.
  due_at timestamptz not null,
  settles_at timestamptz not null,
  trace text collate "C",
  file_id text collate "C",
  primary key (tenant_id, payment_id, attempt_id, leg)
);
create index ach_entries_queued on ach_entries (tenant_id, due_at) where state = 'queued';
create index ach_entries_sent on ach_entries (tenant_id, settles_at) where state = 'sent';

create table ach_files (
  id text collate "C" primary key,
  -- Set where the file belongs to one organisation with a clock of its own; other files are shared.
  tenant_id text collate "C",
  mode text not null,
  name text not null,
  content text not null,
  entries int not null,
  debit_total bigint not null,
  credit_total bigint not null,
  window_at timestamptz not null,
  created_at timestamptz not null,
  sent_at timestamptz
);

-- Traces never repeat within a day: one counter per mode and banking day.
create table ach_counters (
  mode text not null,
  day date not null,
  entries int not null default 0,
  files int not null default 0,
  primary key (mode, day)
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
