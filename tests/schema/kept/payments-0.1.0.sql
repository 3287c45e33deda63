-- The database of payments 0.1.0, written by npm run keep-schema. Frozen.

create schema payments;

create schema payments_webhooks;

create table payments.migrations (
  series text collate "C" not null,
  number int not null,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  primary key (series, number)
);

-- jobs 1 jobs
set search_path to payments;
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

insert into payments.migrations (series, number, name, checksum) values
  ('jobs', 1, 'jobs', 'e910725f2d40ba61c6ec1dd1910af06457bd6c8f23af33bdcaae223815940fc2');

-- rate_limits 1 rate_limits
set search_path to payments;
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

insert into payments.migrations (series, number, name, checksum) values
  ('rate_limits', 1, 'rate_limits', '2654b922cb8dfe17b79b9fcc0aecd9c1f5d491b3fa3188d28fbdef7a3662080a');

-- webhooks 1 deliveries
set search_path to payments_webhooks;
-- A delivery is in `queue` as long as a try may follow, and then, once and for all, in `deliveries`. So adding one costs
-- a single narrow row, the log is never updated, and what is read over and over stays small. That a process works on a
-- row is said by `lanes`, once per endpoint; nothing is written between the adding of a row and the end of its try.
create table queue (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  due_at timestamptz not null default now(),
  tries integer not null default 0,
  step smallint not null default 0,
  early boolean not null default false,
  attempts jsonb not null default '[]',
  url text,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.1);
create index queue_due on queue (tenant_id, endpoint_id, due_at, id);

create table deliveries (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  status text not null check (status in ('delivered', 'failed', 'abandoned', 'dead')),
  tries integer not null,
  attempts jsonb not null,
  url text,
  created_at timestamptz not null,
  finished_at timestamptz not null,
  expires_at timestamptz,
  primary key (tenant_id, id)
);
create index deliveries_by_endpoint on deliveries (tenant_id, endpoint_id, id);
create index deliveries_dead on deliveries (tenant_id, id) where status = 'dead';
create index deliveries_expiring on deliveries (expires_at) where expires_at is not null;
create index deliveries_finished on deliveries using brin (finished_at);

-- Holds an endpoint from its first failure until its next success.
create table failing_endpoints (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  failing_since timestamptz not null,
  primary key (tenant_id, endpoint_id)
);

-- Processes that send. Each holds an advisory lock of its name as long as it lives.
create table dispatchers (
  id text collate "C" primary key,
  seen_at timestamptz not null
);

-- Endpoints that a process works on: it alone sends to them.
create table lanes (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  owner text collate "C" not null,
  primary key (tenant_id, endpoint_id)
);

insert into payments.migrations (series, number, name, checksum) values
  ('webhooks', 1, 'deliveries', '98d2d5c7f35d980e94cf69251b33041b2892dfe18c024931cef170862fa10dcb');

-- payments 1 organisations_and_keys
set search_path to payments;
-- Who uses the service: organisations, their keys, and the sandbox clock of each.
create table organisations (
  id text collate "C" primary key,
  name text not null,
  -- The sandbox clock: frozen at a moment, or running on with an offset from real time, or neither.
  clock_frozen_at timestamptz,
  clock_offset_ms bigint,
  created_at timestamptz not null,
  check (clock_frozen_at is null or clock_offset_ms is null)
);

-- A key is looked up by its hash, before anything is known of its organisation.
create table api_keys (
  hash bytea primary key,
  id text collate "C" not null unique,
  organisation_id text collate "C" not null references organisations (id),
  mode text not null check (mode in ('test', 'live')),
  name text not null,
  hint text not null,
  scopes text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null
);
create index api_keys_of_organisation on api_keys (organisation_id, id);

-- Accepting a payment remembers what it must know of a tenant: its clock, its webhook endpoints, its payment methods.
-- The version counts the changes of these. The statement that accepts compares it with the one that was remembered, so
-- what any process has changed holds for the next payment in every other. Triggers raise it: no writer can forget to.
create table tenant_versions (
  tenant_id text collate "C" primary key,
  version bigint not null
);

-- For tables that begin with the tenant.
create function tenant_row_changed() returns trigger language plpgsql set search_path from current as $$
begin
  insert into tenant_versions as known (tenant_id, version) values (coalesce(new.tenant_id, old.tenant_id), 1)
  on conflict (tenant_id) do update set version = known.version + 1;
  return null;
end $$;

create function organisation_clock_changed() returns trigger language plpgsql set search_path from current as $$
begin
  insert into tenant_versions as known (tenant_id, version) values (new.id || '.test', 1)
  on conflict (tenant_id) do update set version = known.version + 1;
  return null;
end $$;
create trigger organisations_clock_changed after update on organisations
  for each row when ((old.clock_frozen_at, old.clock_offset_ms)
    is distinct from (new.clock_frozen_at, new.clock_offset_ms))
  execute function organisation_clock_changed();

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 1, 'organisations_and_keys', '877f3bf0918c70d553435304fe2ac21a8e4a2131d66216bcababf927dd44f263');

-- payments 2 payment_methods
set search_path to payments;
-- Where money comes from and goes to. From here on every table that grows begins with the tenant (organisation and
-- mode), so that test and live rows, and two organisations, can only meet in a query that forgets its first condition.
create table payment_methods (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  type text not null check (type in ('bank_account', 'balance')),
  routing_number text,
  account_sealed bytea,
  account_last4 text,
  fingerprint text collate "C",
  account_type text check (account_type in ('checking', 'savings')),
  holder_name text,
  holder_type text check (holder_type in ('individual', 'business')),
  rails_send text[] not null,
  rails_receive text[] not null,
  metadata jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  -- Test accounts have ids of the callers' own; lists go by an id that tells the time.
  sort_id text collate "C" not null,
  primary key (tenant_id, id),
  check (type = 'balance' or (routing_number is not null and account_sealed is not null and fingerprint is not null
    and account_type is not null and holder_name is not null and holder_type is not null))
);
create index payment_methods_fingerprint on payment_methods (tenant_id, fingerprint) where fingerprint is not null;
create index payment_methods_listed on payment_methods (tenant_id, sort_id) where deleted_at is null;

-- A new payment method changes nothing that is remembered: that a method is missing never is.
create trigger payment_methods_changed after update on payment_methods
  for each row when ((old.deleted_at, old.type, old.rails_send, old.rails_receive)
    is distinct from (new.deleted_at, new.type, new.rails_send, new.rails_receive))
  execute function tenant_row_changed();
create trigger payment_methods_removed after delete on payment_methods
  for each row execute function tenant_row_changed();

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 2, 'payment_methods', 'ece0893d030f09f3a1c8e490115f9709dc16f0522b8ccf2f305855d50498fc86');

-- payments 3 payments
set search_path to payments;
-- Payments, the keys that make a repeat harmless, and what happened.
create table payments (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  -- The statuses and moves of `payments/states.ts`; a test compares them.
  status text collate "C" not null
    check (status in ('pending', 'processing', 'canceled', 'failed', 'completed', 'returned')),
  amount bigint not null check (amount between 1 and 9999999999),
  source_id text collate "C" not null,
  destination_id text collate "C" not null,
  -- Whose money moves: a balance held here, or the world outside (see the ledger).
  debit_account text collate "C" not null,
  credit_account text collate "C" not null,
  rail_selected text not null,
  fallback boolean not null,
  metadata jsonb not null,
  -- The time of the organisation's clock; the order of creation in real time is that of the ids.
  created_at timestamptz not null,
  -- The payment as the API shows it: the same bytes as in the response and in its last event.
  document text not null,
  primary key (tenant_id, id),
  check (source_id <> destination_id)
);
create index payments_by_source on payments (tenant_id, source_id, id);
create index payments_by_destination on payments (tenant_id, destination_id, id);
-- Most payments are completed: those are found in the order of the primary key without an index of their own.
create index payments_not_completed on payments (tenant_id, status, id) where status <> 'completed';
create index payments_by_metadata on payments using gin (metadata jsonb_path_ops) where metadata <> '{}';
create index payments_created on payments using brin (created_at);

create function refuse_payment_move() returns trigger language plpgsql set search_path from current as $$
begin
  raise exception 'payment % cannot go from % to %', old.id, old.status, new.status using errcode = 'check_violation';
end $$;
-- The table of moves, enforced where every writer must pass. A transaction may make several moves and write the row
-- once, so what it may write is what can be reached. The trigger's condition is evaluated in passing, and the function
-- is called only to refuse: as a call for every row it was a measurable part of completing a payment.
create trigger payments_move before update of status on payments
  for each row when (old.status is distinct from new.status and not (
    (old.status = 'pending' and new.status in ('processing', 'canceled', 'failed', 'completed', 'returned'))
    or (old.status = 'processing' and new.status in ('failed', 'completed', 'returned'))
    or (old.status = 'completed' and new.status = 'returned')
  ))
  execute function refuse_payment_move();

create table idempotency_keys (
  tenant_id text collate "C" not null,
  path text collate "C" not null,
  key text collate "C" not null,
  fingerprint bytea not null,
  -- A payment's first response is the data of its first event; other responses are kept here, sealed, because they may
  -- hold secrets that are shown once.
  event_id text collate "C",
  status smallint not null,
  response_sealed bytea,
  created_at timestamptz not null,
  primary key (tenant_id, path, key)
);
create index idempotency_keys_created on idempotency_keys using brin (created_at);

create table events (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  subject_id text collate "C" not null,
  -- The object as it was then, exactly as the API showed it.
  data text not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  primary key (tenant_id, id)
);
create index events_of_subject on events (tenant_id, subject_id, id);
create index events_created on events using brin (created_at);

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 3, 'payments', '02cc65ff40d915407a96632be8ba1179588befdb7937eb00b182dbbfb6f0df84');

-- payments 4 ledger
set search_path to payments;
-- Double entry in one row: what is taken from one account is given to the other, so every row sums to zero.
create table ledger_transfers (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  payment_id text collate "C",
  kind text collate "C" not null check (kind in ('hold', 'post', 'release', 'reverse', 'fund')),
  rail text,
  debit_account text collate "C" not null,
  credit_account text collate "C" not null,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null,
  primary key (tenant_id, id),
  check (debit_account <> credit_account),
  check ((payment_id is null) = (kind = 'fund'))
);
-- Each thing happens to a payment's money once; this is what stops a second worker, a replay or a bug.
create unique index ledger_transfers_once on ledger_transfers (tenant_id, payment_id, kind) where payment_id is not null;
create index ledger_transfers_debit on ledger_transfers (tenant_id, debit_account, id) where debit_account like 'pm\_%';
create index ledger_transfers_credit on ledger_transfers (tenant_id, credit_account, id) where credit_account like 'pm\_%';

create function refuse_ledger_change() returns trigger language plpgsql set search_path from current as $$
begin
  raise exception 'the ledger is append-only';
end $$;
create trigger ledger_append_only before update or delete or truncate on ledger_transfers
  for each statement execute function refuse_ledger_change();

-- Money held here, one row per balance. `held` is promised to payments on their way, `incoming` is on its way in;
-- only a return may take more than there is, and then `owed` says how much.
create table ledger_balances (
  tenant_id text collate "C" not null,
  payment_method_id text collate "C" not null,
  currency text not null,
  posted bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  incoming bigint not null default 0 check (incoming >= 0),
  owed bigint not null default 0 check (owed >= 0),
  primary key (tenant_id, payment_method_id),
  constraint never_overdrawn check (posted - held + owed >= 0)
);

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 4, 'ledger', 'd2a60b1ad110dc9a5864396cbe6e407b7dc7b3a30ed0df86d69b2475bc318324');

-- payments 5 webhook_endpoints
set search_path to payments;
-- Who is told of events. The deliveries themselves, log and queue in one, live in a schema of their own.
create table webhook_endpoints (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  url text not null,
  -- Types of events, or `*` for all of them.
  events text[] not null,
  description text,
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text,
  -- The secrets that sign, newest first, each with its end; sealed as a whole.
  secrets_sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  check ((status = 'disabled') = (disabled_reason is not null))
);
create trigger webhook_endpoints_changed after update on webhook_endpoints
  for each row when ((old.status, old.events) is distinct from (new.status, new.events))
  execute function tenant_row_changed();
create trigger webhook_endpoints_came_or_went after insert or delete on webhook_endpoints
  for each row execute function tenant_row_changed();

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 5, 'webhook_endpoints', '34a92073718b33423db374aa48143e966ee451727e6bf9d4fb6333632166ba7f');

-- payments 6 rails
set search_path to payments;
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

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 6, 'rails', 'ce0d295fad5abc197f441ea2fc3cf94f91f6bba9f11d19d02254d34591499235');

-- payments 7 ach
set search_path to payments;
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

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 7, 'ach', 'e80701edac1d19cdf6e79bc3a14dde6c8660006c3418ff3ac9847127238ce6c7');

-- payments 8 rtp
set search_path to payments;
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

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 8, 'rtp', '056e461d54320d37484bf6e86df224a0d6ed635714d1a9bdfd495e3730f0884d');

-- payments 9 sandbox_networks
set search_path to payments;
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

insert into payments.migrations (series, number, name, checksum) values
  ('payments', 9, 'sandbox_networks', '683aca3c509e78369a97bbd172294cf079cad9926eda3d3d5daaef787e13e949');

-- A row in every table.

reset search_path;

insert into payments.ach_answers (id, scope, name, content_hash, content_sealed, as_of, created_at) values ('kept_1', 'kept_1', 'kept_1', '\x01', '\x01', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into payments.ach_counters (scope, last_trace, day, files) values ('kept_1', '1', '2026-11-15', '1');

insert into payments.ach_entries (tenant_id, payment_id, attempt_id, leg, scope, state, amount, same_day, due_at, settles_at) values ('kept_1', 'kept_1', 'kept_1', 'credit', 'kept_1', 'canceled', '1', 'false', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into payments.ach_files (id, scope, name, content_sealed, entries, debit_total, credit_total, as_of, created_at) values ('kept_1', 'kept_1', 'kept_1', '\x01', '1', '1', '1', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into payments.ach_replies (tenant_id, payment_id, id, attempt_id, leg, kind, code, trace, answer_id, created_at) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1', 'noc', 'kept_1', 'kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into payments_webhooks.deliveries (tenant_id, id, endpoint_id, event_id, event_type, status, tries, attempts, created_at, finished_at) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1', 'abandoned', '1', '{}', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into payments_webhooks.dispatchers (id, seen_at) values ('kept_1', '2026-11-15T12:00:00Z');

insert into payments.events (tenant_id, id, type, subject_id, data, occurred_at, created_at) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into payments_webhooks.failing_endpoints (tenant_id, endpoint_id, failing_since) values ('kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into payments.idempotency_keys (tenant_id, path, key, fingerprint, status, created_at) values ('kept_1', 'kept_1', 'kept_1', '\x01', '1', '2026-11-15T12:00:00Z');

insert into payments.jobs (name, payload, ready_at) values ('kept_1', '{}', '2026-11-15T12:00:00Z');

insert into payments_webhooks.lanes (tenant_id, endpoint_id, owner) values ('kept_1', 'kept_1', 'kept_1');

insert into payments.ledger_balances (tenant_id, payment_method_id, currency) values ('kept_1', 'kept_1', 'kept_1');

insert into payments.ledger_transfers (tenant_id, id, kind, debit_account, credit_account, amount, created_at) values ('kept_1', 'kept_1', 'fund', 'outside_sources', 'kept_1', '1', '2026-11-15T12:00:00Z');

insert into payments.organisations (id, name, created_at) values ('kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into payments.payment_methods (tenant_id, id, type, rails_send, rails_receive, metadata, created_at, updated_at, sort_id) values ('kept_1', 'kept_1', 'balance', '{}', '{}', '{}', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z', 'kept_1');

insert into payments.payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account, rail_selected, fallback, metadata, created_at, document) values ('kept_1', 'kept_1', 'canceled', '1', 'pm_1', 'pm_2', 'kept_1', 'kept_1', 'kept_1', 'false', '{}', '2026-11-15T12:00:00Z', 'kept_1');

insert into payments_webhooks.queue (tenant_id, id, endpoint_id, event_id, event_type) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1');

insert into payments.rail_health (rail, mode, state, changed_at) values ('kept_1', 'kept_1', 'down', '2026-11-15T12:00:00Z');

insert into payments.rail_messages (tenant_id, id, payment_id, rail, direction, kind, content, created_at) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'in', 'kept_1', '<message/>', '2026-11-15T12:00:00Z');

insert into payments.rail_quarantine (id, rail, content_sealed, reason, received_at) values ('kept_1', 'kept_1', '\x01', 'kept_1', '2026-11-15T12:00:00Z');

insert into payments.rail_references (reference, tenant_id, payment_id, attempt_id) values ('kept_1', 'kept_1', 'kept_1', 'kept_1');

insert into payments.rate_limit_buckets (key, tokens, rate, burst, updated_at) values ('kept_1', '1', '1', '1', '2026-11-15T12:00:00Z');

insert into payments.rate_limit_processes (id, seen_at) values ('kept_1', '2026-11-15T12:00:00Z');

insert into payments.reconciliations (day, rail, mode, agrees, report, made_at) values ('2026-11-15', 'kept_1', 'kept_1', 'false', '{}', '2026-11-15T12:00:00Z');

insert into payments.rtp_submissions (tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id, amount, settlement_date, state, inquiries, resends) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1', '1', '2026-11-15', 'accepted', '1', '1');

insert into payments.sandbox_ach_answers (mailbox, due_at, kind, code, trace, day, original) values ('kept_1', '2026-11-15T12:00:00Z', 'noc', 'kept_1', 'kept_1', '2026-11-15', '{}');

insert into payments.sandbox_ach_entries (mailbox, trace, day, direction, amount, reference, settles_at) values ('kept_1', 'kept_1', '2026-11-15', 'credit', '1', 'kept_1', '2026-11-15T12:00:00Z');

insert into payments.sandbox_ach_files (mailbox, name, identity, content_hash, received_at) values ('kept_1', 'kept_1', 'kept_1', '\x01', '2026-11-15T12:00:00Z');

insert into payments.sandbox_ach_outbox (mailbox, name, content, created_at) values ('kept_1', 'kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into payments.sandbox_rtp_orders (instruction_id, status) values ('kept_1', 'ACTC');

insert into payments.sandbox_rtp_transfers (instruction_id, message_id, transaction_id, end_to_end_id, message_created_at, settlement_date, amount, instructing_agent, instructed_agent, debtor_agent, creditor_agent, status, silent, received_at, accounts_mark) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1', '2026-11-15', '1', 'kept_1', 'kept_1', 'kept_1', 'kept_1', 'ACTC', 'false', '2026-11-15T12:00:00Z', 'kept_1');

insert into payments.tenant_versions (tenant_id, version) values ('kept_1', '1');

insert into payments.webhook_endpoints (tenant_id, id, url, events, status, secrets_sealed, created_at, updated_at) values ('kept_1', 'kept_1', 'kept_1', '{}', 'enabled', '\x01', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into payments.api_keys (hash, id, organisation_id, mode, name, hint, scopes, created_at) values ('\x01', 'kept_1', 'kept_1', 'live', 'kept_1', 'kept_1', '{}', '2026-11-15T12:00:00Z');
