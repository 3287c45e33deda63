-- What went over the rails and what came back, kept as it was sent and received. Rails and kinds of messages have no
-- list here: a rail brings its own, and the database need not change for it.
create table rail_messages (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  payment_id text collate "C" not null,
  rail text not null,
  direction text not null check (direction in ('out', 'in')),
  kind text not null,
  -- Sealed where it holds account numbers, else as it is.
  content text,
  content_sealed bytea,
  created_at timestamptz not null,
  primary key (tenant_id, payment_id, id),
  check (num_nonnulls(content, content_sealed) = 1)
);
-- Sealed text does not get smaller, and a message fits a page: within its row it costs one insert instead of three.
alter table rail_messages alter column content_sealed set storage main;

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
  content_sealed bytea not null,
  reason text not null,
  received_at timestamptz not null
);
create index rail_quarantine_received on rail_quarantine (received_at, id);

-- What our entries and the network's books said of a day, and where they differ.
create table reconciliations (
  day date not null,
  rail text collate "C" not null,
  mode text collate "C" not null,
  agrees boolean not null,
  report json not null,
  made_at timestamptz not null,
  primary key (day, rail, mode)
);

-- Whether a rail is up; one that fails or is signed off is not chosen until it recovers.
create table rail_health (
  rail text collate "C" not null,
  mode text collate "C" not null,
  state text not null check (state in ('up', 'down')),
  reason text,
  changed_at timestamptz not null,
  primary key (rail, mode)
);
