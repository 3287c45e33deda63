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
