-- The database of toolhub 0.1.0, written by npm run keep-schema. Frozen.

create schema toolhub;

create schema toolhub_webhooks;

create table toolhub.migrations (
  series text collate "C" not null,
  number int not null,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  primary key (series, number)
);

-- jobs 1 jobs
set search_path to toolhub;
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

insert into toolhub.migrations (series, number, name, checksum) values
  ('jobs', 1, 'jobs', 'e910725f2d40ba61c6ec1dd1910af06457bd6c8f23af33bdcaae223815940fc2');

-- rate_limits 1 rate_limits
set search_path to toolhub;
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

insert into toolhub.migrations (series, number, name, checksum) values
  ('rate_limits', 1, 'rate_limits', '2654b922cb8dfe17b79b9fcc0aecd9c1f5d491b3fa3188d28fbdef7a3662080a');

-- webhooks 1 deliveries
set search_path to toolhub_webhooks;
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

insert into toolhub.migrations (series, number, name, checksum) values
  ('webhooks', 1, 'deliveries', '98d2d5c7f35d980e94cf69251b33041b2892dfe18c024931cef170862fa10dcb');

-- toolhub 1 customers
set search_path to toolhub;
-- Who uses the service, and how they log in. Tables that grow begin with the customer. Plans come first, because every
-- customer has one.

-- Plans are data: an operator adds or changes one with SQL. Money is in cents of a US dollar.
create table plans (
  id text collate "C" primary key,
  position int not null unique,
  name text not null,
  price_cents bigint not null check (price_cents >= 0),
  included_calls bigint not null check (included_calls >= 0),
  overage_cents_per_1000 bigint not null check (overage_cents_per_1000 >= 0),
  hard_stop boolean not null
);

-- What each plan cost and gave, from when on: an invoice prices days by the terms that held, also when an operator
-- changed or removed the plan since. Changing `plans` is enough, the trigger keeps this table.
create table plan_terms (
  plan text collate "C" not null,
  effective_at timestamptz not null,
  name text not null,
  price_cents bigint not null,
  included_calls bigint not null,
  overage_cents_per_1000 bigint not null,
  primary key (plan, effective_at)
);

insert into plans (id, position, name, price_cents, included_calls, overage_cents_per_1000, hard_stop) values
  ('free', 1, 'Free', 0, 1000, 0, true),
  ('starter', 2, 'Starter', 2900, 50000, 60, false),
  ('scale', 3, 'Scale', 22900, 1000000, 25, false);
insert into plan_terms (plan, effective_at, name, price_cents, included_calls, overage_cents_per_1000)
select id, '1970-01-01T00:00:00Z', name, price_cents, included_calls, overage_cents_per_1000 from plans;

create function keep_plan_terms() returns trigger language plpgsql set search_path from current as $$
begin
  insert into plan_terms (plan, effective_at, name, price_cents, included_calls, overage_cents_per_1000)
  values (new.id, statement_timestamp(), new.name, new.price_cents, new.included_calls, new.overage_cents_per_1000)
  on conflict (plan, effective_at) do update set name = excluded.name, price_cents = excluded.price_cents,
    included_calls = excluded.included_calls, overage_cents_per_1000 = excluded.overage_cents_per_1000;
  return new;
end
$$;
create trigger plans_keep_terms after insert or update on plans for each row execute function keep_plan_terms();

create table customers (
  id text collate "C" primary key,
  email text not null,
  name text not null,
  password_hash text not null,
  plan text collate "C" not null default 'free' references plans (id),
  created_at timestamptz not null
);

-- Look-ups that come without a customer live in small tables of their own, so that the others can be spread by customer;
-- for the same reason no foreign key leads from here to there.
create table customer_emails (
  email_key text collate "C" primary key,
  customer_id text collate "C" not null
);

create table sessions (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  token_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, id)
);
create index sessions_token_hash on sessions using hash (token_hash);
create index sessions_id on sessions (id);
create index sessions_expires_at on sessions (expires_at);

-- One row for each login try that failed, or that is being checked right now (`failed` is null).
create table login_attempts (
  account_key bytea not null,
  id text collate "C" not null,
  at timestamptz not null,
  failed boolean,
  primary key (account_key, id)
);
create index login_attempts_at on login_attempts (at);

create table personal_tokens (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  token_hash bytea not null,
  name text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  primary key (customer_id, id)
);
create index personal_tokens_token_hash on personal_tokens using hash (token_hash);

-- Who may not use the service. Small, and held in the memory of every process.
create table suspended_customers (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  reason text,
  suspended_at timestamptz not null
);

insert into toolhub.migrations (series, number, name, checksum) values
  ('toolhub', 1, 'customers', 'a05e012a2a1423f35bf0a14d43c83032fd188a56b6f973e7c009cabaeb8d79d1');

-- toolhub 2 oauth
set search_path to toolhub;
create table oauth_clients (
  id text collate "C" primary key,
  -- `own`: the platform's client, written at every start. `registered`: made by dynamic registration.
  kind text not null check (kind in ('own', 'registered')),
  redirect_uris text[] not null,
  metadata jsonb not null,
  secret_hash bytea,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz
);

create table oauth_grants (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  client_id text collate "C" not null,
  payload jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, id)
);
create index oauth_grants_id on oauth_grants (id);

create table oauth_auth_codes (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  code_hash bytea not null,
  grant_id text collate "C" not null,
  client_id text collate "C" not null,
  redirect_uri text not null,
  payload jsonb not null,
  used boolean not null default false,
  used_at timestamptz,
  -- When the tokens for this code were stored: a request that came in later is a late reuse.
  exchanged_at timestamptz,
  -- Until when requests that lost a race for this code are kept waiting; who comes in before that is one of them.
  contended_until timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, code_hash)
);
create index oauth_auth_codes_code_hash on oauth_auth_codes using hash (code_hash);
create index oauth_auth_codes_grant_id on oauth_auth_codes (grant_id);
create index oauth_auth_codes_expires_at on oauth_auth_codes (expires_at);

create table oauth_tokens (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  token_hash bytea not null,
  kind text not null check (kind in ('access', 'refresh')),
  grant_id text collate "C" not null,
  client_id text collate "C" not null,
  scopes text[] not null,
  audience text,
  payload jsonb not null,
  used boolean not null default false,
  used_at timestamptz,
  -- As for codes, when a refresh token is exchanged for its successor.
  exchanged_at timestamptz,
  contended_until timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, id)
);
create index oauth_tokens_token_hash on oauth_tokens using hash (token_hash);
create index oauth_tokens_grant_id on oauth_tokens (grant_id);
create index oauth_tokens_expires_at on oauth_tokens (expires_at);

-- An authorization request on its way through the login and consent pages.
create table oauth_interactions (
  id_hash bytea primary key,
  payload jsonb not null,
  expires_at timestamptz not null
);
create index oauth_interactions_expires_at on oauth_interactions (expires_at);

-- What /oauth/connect-mcp keeps for its callback; the verifier never leaves the server.
create table oauth_connects (
  state_hash bytea primary key,
  sealed_verifier bytea not null,
  expires_at timestamptz not null
);
create index oauth_connects_expires_at on oauth_connects (expires_at);

insert into toolhub.migrations (series, number, name, checksum) values
  ('toolhub', 2, 'oauth', '1053f31ebe9da65a886d7bb8786c4f0db5ae0426b685243c2a9fa7ca8f71f791');

-- toolhub 3 audit_and_events
set search_path to toolhub;
create table audit_entries (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  at timestamptz not null,
  actor_type text not null,
  actor_id text collate "C" not null,
  action text not null,
  target text,
  outcome text not null,
  ip text,
  request_id text collate "C",
  primary key (customer_id, id)
);

-- The outbox: rows are written in the transaction of the change that they announce. What was emitted is what is sent:
-- `json` keeps numbers, order and escapes that `jsonb` would rewrite or refuse.
create table events (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  data json not null,
  created_at timestamptz not null,
  primary key (customer_id, id)
);
create index events_created_at on events using brin (created_at);

-- Where a customer hears of events. The deliveries themselves, queue and log, live in a schema of their own.
create table webhook_configs (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  webhook_url text not null,
  -- Null stands for every type of event, also those that come later.
  events text[],
  secret_sealed bytea not null,
  created_at timestamptz not null
);

insert into toolhub.migrations (series, number, name, checksum) values
  ('toolhub', 3, 'audit_and_events', '206bdeb3e5359820dc68ccec6b703bc7b0920fda42e84de707a261392a127371');

-- toolhub 4 credentials
set search_path to toolhub;
-- What the customers' accounts at the platforms are opened with. `sealed` opens only for its own customer, platform
-- and slot. `slot` is empty for a customer's one account per platform; rows of the customer 'internal' hold renewed
-- tokens of configured accounts, one slot each.
create table credentials (
  customer_id text collate "C" not null,
  platform text collate "C" not null,
  slot text collate "C" not null default '',
  account text not null,
  status text not null check (status in ('connected', 'expired')),
  sealed bytea not null,
  expires_at timestamptz,
  -- Whether it can be renewed without the customer.
  refreshable boolean not null,
  -- Grows with every change: a call that met a refusal knows whether someone else has renewed the token since.
  version bigint not null default 1,
  -- For configured accounts: which version of the settings the row grew from.
  seed text,
  -- Whoever holds the lease is the one that renews; it ends by itself when the holder dies.
  lease_id text collate "C",
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (customer_id, platform, slot)
);
-- Tokens that run out and that only the customer can replace.
create index credentials_running_out on credentials (expires_at, customer_id, platform)
  where status = 'connected' and not refreshable and slot = '';

-- A customer on the way to a vendor and back. The state is known to that browser alone and works once; of it and of the
-- session that began there are only hashes here.
create table connect_states (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  state_hash bytea not null,
  platform text collate "C" not null,
  provider text collate "C" not null,
  -- Null when a token began: then any session of the customer may end it.
  session_hash bytea,
  sealed_verifier bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, state_hash)
);
create index connect_states_expires_at on connect_states (expires_at);

-- The last look at a customer's accounts, or at the platforms as such, and who takes the next one. A report holds for
-- the accounts that it was made of: `accounts` is a digest of them, so that a changed credential makes it void.
create table health_reports (
  customer_id text collate "C" primary key,
  checked_at timestamptz,
  accounts text,
  platforms json,
  lease_id text collate "C",
  lease_until timestamptz
);

insert into toolhub.migrations (series, number, name, checksum) values
  ('toolhub', 4, 'credentials', 'ba8a88ad6240d30b3fb57a70e8832823f59ee4307377f46ccc8254c6e2bb28c2');

-- toolhub 5 tool_calls
set search_path to toolhub;
-- What a customer switched off; everything else is on.
create table tool_switches (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  kind text collate "C" not null check (kind in ('platform', 'tool')),
  name text collate "C" not null,
  switched_off_at timestamptz not null,
  primary key (customer_id, kind, name)
);

-- Calls that carry an idempotency_key. The row is written before the platform is called and its result after, so a
-- row without a result whose holder is gone tells that nobody knows what happened: such a key sends nothing again.
create table idempotent_calls (
  customer_id text collate "C" not null,
  tool text collate "C" not null,
  key text collate "C" not null,
  arguments_hash bytea not null,
  holder text collate "C" not null,
  result text,
  expires_at timestamptz not null,
  primary key (customer_id, tool, key)
);
create index idempotent_calls_expires_at on idempotent_calls (expires_at);

-- A process that holds reservations. While it lives it moves `expires_at` on; when it is gone, the sweep deletes the
-- row and gives back what it held.
create table call_holders (
  id text collate "C" primary key,
  expires_at timestamptz not null
);
create index call_holders_expires_at on call_holders (expires_at);

-- `used` counts the calls that were kept and those that are reserved: it is what the gate compares with the limit.
-- `asked`, `granted` and `stop_at` are those of the last reservation, so that one statement can decide and tell.
-- The room in each page lets a hot row be rewritten in place.
create table usage_counters (
  customer_id text collate "C" not null,
  month date not null,
  used bigint not null,
  kept bigint not null default 0,
  asked bigint not null default 0,
  granted bigint not null default 0,
  stop_at bigint,
  -- The highest threshold of this month's limit that an event has told of.
  notified_percent int not null default 0,
  primary key (customer_id, month)
) with (fillfactor = 50);

create table usage_reservations (
  customer_id text collate "C" not null,
  month date not null,
  holder text collate "C" not null,
  units bigint not null,
  primary key (customer_id, month, holder)
) with (fillfactor = 50);
create index usage_reservations_holder on usage_reservations (holder);

-- Calls per day, tool and class of duration: sums of it answer every question of the usage page, to the call.
-- Sessions that belong to no customer are counted under `internal`.
create table usage_daily (
  customer_id text collate "C" not null,
  day date not null,
  tool text collate "C" not null,
  duration_class smallint not null,
  platform text collate "C" not null,
  calls bigint not null,
  errors bigint not null,
  primary key (customer_id, day, tool, duration_class)
) with (fillfactor = 70);

insert into toolhub.migrations (series, number, name, checksum) values
  ('toolhub', 5, 'tool_calls', '586281c6459a871c071bc0187bbd6a70a1571cd1eb55a179f9a55c9bc12887d0');

-- toolhub 6 billing
set search_path to toolhub;
-- What a customer, or an admin for the customer, set beside the plan.
create table billing_settings (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  spend_cap_cents bigint check (spend_cap_cents >= 0),
  -- The limit that an admin gave instead of the plan's.
  monthly_calls bigint check (monthly_calls >= 0),
  updated_at timestamptz not null
);

-- Every change, with its moment: a plan's price is charged by days.
create table plan_changes (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  at timestamptz not null,
  previous_plan text collate "C" not null,
  plan text collate "C" not null,
  spend_cap_cents bigint,
  monthly_calls bigint,
  primary key (customer_id, id)
);

-- The number of calls in a month at which the gate closes; null where it never does. With a spend cap that is where
-- the month's price and overage together would pass the cap. The arguments come from `plans` and `billing_settings`.
-- The body is bound when it is made, so it needs no search path, with which it could not be part of its callers' plans.
create function calls_stop_at(
  monthly_calls bigint, spend_cap_cents bigint, hard_stop boolean, included_calls bigint, price_cents bigint,
  overage_cents_per_1000 bigint
) returns bigint language sql immutable
return case
  when monthly_calls is not null then monthly_calls
  when hard_stop then included_calls
  when spend_cap_cents is null or overage_cents_per_1000 = 0 then null
  else included_calls + greatest(spend_cap_cents - price_cents, 0) * 1000 / overage_cents_per_1000
end;

-- Work of which only one may run at a time. Whoever finds `expires_at` passed may take it over.
create table job_locks (
  name text collate "C" primary key,
  holder text collate "C" not null,
  expires_at timestamptz not null
);

-- The last number that was given. It is raised in the transaction that writes the invoices, so that there is no gap.
create table invoice_series (
  name text collate "C" primary key,
  last_number bigint not null
);
insert into invoice_series (name, last_number) values ('invoices', 0);

-- Months whose run went through to the end.
create table invoice_periods (
  period date primary key,
  finished_at timestamptz not null
);

create table invoices (
  customer_id text collate "C" not null,
  id text collate "C" not null,
  number bigint not null,
  period date not null,
  status text not null check (status in ('open', 'sent', 'failed_to_send', 'paid', 'void')),
  currency text not null,
  lines jsonb not null,
  total_cents bigint not null check (total_cents >= 0),
  -- As of the day it was issued: an invoice does not change with the account.
  bill_to_name text not null,
  bill_to_email text not null,
  issued_at timestamptz not null,
  sent_at timestamptz,
  paid_at timestamptz,
  mail_state text not null check (mail_state in ('pending', 'sending', 'sent', 'failed', 'canceled')),
  mail_attempts int not null default 0,
  -- When to send; while someone sends, when the next one may. Null when there is nothing to do any more.
  mail_due_at timestamptz,
  mail_error text,
  primary key (customer_id, id),
  unique (customer_id, period)
);
-- For admins, who have an id and no customer.
create index invoices_id on invoices (id);
create index invoices_mail_due on invoices (mail_due_at) where mail_due_at is not null;
create index invoices_period on invoices (period, id);

insert into toolhub.migrations (series, number, name, checksum) values
  ('toolhub', 6, 'billing', '638592b2ce13b03e9ddedff8ebfaac6530ddd6f701c7ae9d52a2914010af8fa5');

-- toolhub 7 telegram
set search_path to toolhub;
-- Where each bot's stream of updates was last read to, and who reads it now: the Bot API allows one reader.
create table telegram_bots (
  customer_id text collate "C" not null,
  bot_id bigint not null,
  next_update_id bigint not null default 0,
  lease_id text collate "C",
  lease_until timestamptz,
  polled_at timestamptz,
  primary key (customer_id, bot_id)
);

-- A bot cannot read history, so what it was sent is kept here. An edit replaces the message it edits.
create table telegram_messages (
  customer_id text collate "C" not null,
  bot_id bigint not null,
  chat_id bigint not null,
  message_id bigint not null,
  update_id bigint not null,
  sent_at timestamptz not null,
  chat_username text,
  payload jsonb not null,
  primary key (customer_id, bot_id, chat_id, message_id)
);
create index telegram_messages_recent on telegram_messages (customer_id, bot_id, sent_at desc, chat_id, message_id);

insert into toolhub.migrations (series, number, name, checksum) values
  ('toolhub', 7, 'telegram', '3205ca067ecf2966e2e8bad3ce3eb43a993ae2e43c395b187b7eea570da68beb');

-- toolhub 8 whatsapp
set search_path to toolhub;
-- Everything WhatsApp sent, byte for byte, before anybody has looked into it.
create table whatsapp_inbox (
  id text collate "C" primary key,
  received_at timestamptz not null,
  signature text not null,
  body bytea not null,
  processed_at timestamptz,
  -- Why nothing could be made of it; such a row is kept.
  problem text
);
create index whatsapp_inbox_processed_at on whatsapp_inbox (processed_at) where problem is null;

-- Phone number → customer; a look-up of its own. Numbers that were heard of and belong to nobody have no customer.
create table phone_numbers (
  phone_number_id text collate "C" primary key,
  customer_id text collate "C",
  claimed_at timestamptz,
  first_seen_at timestamptz not null
);
create index phone_numbers_customer on phone_numbers (customer_id) where customer_id is not null;

-- What came for numbers that belong to nobody yet; it moves on when a customer claims the number.
create table whatsapp_unclaimed (
  phone_number_id text collate "C" not null,
  kind text collate "C" not null check (kind in ('message', 'status')),
  key text collate "C" not null,
  received_at timestamptz not null,
  item json not null,
  primary key (phone_number_id, kind, key)
);

-- Messages that customers received: what the read tools of the platform show. `message` is the vendor's own object.
create table whatsapp_messages (
  customer_id text collate "C" not null,
  phone_number_id text collate "C" not null,
  message_id text collate "C" not null,
  contact text collate "C" not null,
  contact_name text,
  sent_at timestamptz not null,
  received_at timestamptz not null,
  message json not null,
  primary key (customer_id, phone_number_id, message_id)
);
create index whatsapp_messages_contact
  on whatsapp_messages (customer_id, phone_number_id, contact, sent_at desc, message_id desc);

-- One row for each person who wrote, with the newest message, so that a list of conversations reads no messages.
create table whatsapp_contacts (
  customer_id text collate "C" not null,
  phone_number_id text collate "C" not null,
  contact text collate "C" not null,
  name text,
  last_message_id text collate "C" not null,
  last_message_at timestamptz not null,
  primary key (customer_id, phone_number_id, contact)
);
create index whatsapp_contacts_recent
  on whatsapp_contacts (customer_id, phone_number_id, last_message_at desc, contact desc);

-- What became of messages that customers sent.
create table whatsapp_statuses (
  customer_id text collate "C" not null,
  phone_number_id text collate "C" not null,
  message_id text collate "C" not null,
  status text collate "C" not null,
  at timestamptz not null,
  primary key (customer_id, phone_number_id, message_id, status)
);

insert into toolhub.migrations (series, number, name, checksum) values
  ('toolhub', 8, 'whatsapp', '89cf71e5a85affef63b44d5c4e71b1135af5fe67717a17ade16c10e930b0ecea');

-- A row in every table.

reset search_path;

insert into toolhub.audit_entries (customer_id, id, at, actor_type, actor_id, action, outcome) values ('kept_1', 'kept_1', '2026-11-15T12:00:00Z', 'kept_1', 'kept_1', 'kept_1', 'kept_1');

insert into toolhub.call_holders (id, expires_at) values ('kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.credentials (customer_id, platform, account, status, sealed, refreshable, created_at, updated_at) values ('kept_1', 'kept_1', 'kept_1', 'connected', '\x01', 'false', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into toolhub.customer_emails (email_key, customer_id) values ('kept_1', 'kept_1');

insert into toolhub.customers (id, email, name, password_hash, created_at) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into toolhub_webhooks.deliveries (tenant_id, id, endpoint_id, event_id, event_type, status, tries, attempts, created_at, finished_at) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1', 'abandoned', '1', '{}', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into toolhub_webhooks.dispatchers (id, seen_at) values ('kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.events (customer_id, id, type, data, created_at) values ('kept_1', 'kept_1', 'kept_1', '{}', '2026-11-15T12:00:00Z');

insert into toolhub_webhooks.failing_endpoints (tenant_id, endpoint_id, failing_since) values ('kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.health_reports (customer_id) values ('kept_1');

insert into toolhub.idempotent_calls (customer_id, tool, key, arguments_hash, holder, expires_at) values ('kept_1', 'kept_1', 'kept_1', '\x01', 'kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.invoice_periods (period, finished_at) values ('2026-11-15', '2026-11-15T12:00:00Z');

insert into toolhub.invoices (customer_id, id, number, period, status, currency, lines, total_cents, bill_to_name, bill_to_email, issued_at, mail_state) values ('kept_1', 'kept_1', '1', '2026-11-15', 'failed_to_send', 'kept_1', '{}', '1', 'kept_1', 'kept_1', '2026-11-15T12:00:00Z', 'canceled');

insert into toolhub.job_locks (name, holder, expires_at) values ('kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.jobs (name, payload, ready_at) values ('kept_1', '{}', '2026-11-15T12:00:00Z');

insert into toolhub_webhooks.lanes (tenant_id, endpoint_id, owner) values ('kept_1', 'kept_1', 'kept_1');

insert into toolhub.login_attempts (account_key, id, at) values ('\x01', 'kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.oauth_auth_codes (customer_id, code_hash, grant_id, client_id, redirect_uri, payload, created_at, expires_at) values ('kept_1', '\x01', 'kept_1', 'kept_1', 'kept_1', '{}', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into toolhub.oauth_clients (id, kind, redirect_uris, metadata, created_at, updated_at) values ('kept_1', 'own', '{}', '{}', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into toolhub.oauth_connects (state_hash, sealed_verifier, expires_at) values ('\x01', '\x01', '2026-11-15T12:00:00Z');

insert into toolhub.oauth_grants (customer_id, id, client_id, payload, created_at, expires_at) values ('kept_1', 'kept_1', 'kept_1', '{}', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into toolhub.oauth_interactions (id_hash, payload, expires_at) values ('\x01', '{}', '2026-11-15T12:00:00Z');

insert into toolhub.oauth_tokens (customer_id, id, token_hash, kind, grant_id, client_id, scopes, payload, created_at, expires_at) values ('kept_1', 'kept_1', '\x01', 'access', 'kept_1', 'kept_1', '{}', '{}', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into toolhub.personal_tokens (customer_id, id, token_hash, name, scopes, created_at) values ('kept_1', 'kept_1', '\x01', 'kept_1', '{}', '2026-11-15T12:00:00Z');

insert into toolhub.phone_numbers (phone_number_id, first_seen_at) values ('kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.plan_changes (customer_id, id, at, previous_plan, plan) values ('kept_1', 'kept_1', '2026-11-15T12:00:00Z', 'kept_1', 'kept_1');

insert into toolhub_webhooks.queue (tenant_id, id, endpoint_id, event_id, event_type) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', 'kept_1');

insert into toolhub.rate_limit_buckets (key, tokens, rate, burst, updated_at) values ('kept_1', '1', '1', '1', '2026-11-15T12:00:00Z');

insert into toolhub.rate_limit_processes (id, seen_at) values ('kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.sessions (customer_id, id, token_hash, created_at, expires_at) values ('kept_1', 'kept_1', '\x01', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');

insert into toolhub.suspended_customers (customer_id, suspended_at) values ('kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.telegram_bots (customer_id, bot_id) values ('kept_1', '1');

insert into toolhub.telegram_messages (customer_id, bot_id, chat_id, message_id, update_id, sent_at, payload) values ('kept_1', '1', '1', '1', '1', '2026-11-15T12:00:00Z', '{}');

insert into toolhub.tool_switches (customer_id, kind, name, switched_off_at) values ('kept_1', 'platform', 'kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.usage_counters (customer_id, month, used) values ('kept_1', '2026-11-15', '1');

insert into toolhub.usage_daily (customer_id, day, tool, duration_class, platform, calls, errors) values ('kept_1', '2026-11-15', 'kept_1', '1', 'kept_1', '1', '1');

insert into toolhub.usage_reservations (customer_id, month, holder, units) values ('kept_1', '2026-11-15', 'kept_1', '1');

insert into toolhub.webhook_configs (customer_id, webhook_url, secret_sealed, created_at) values ('kept_1', 'kept_1', '\x01', '2026-11-15T12:00:00Z');

insert into toolhub.whatsapp_contacts (customer_id, phone_number_id, contact, last_message_id, last_message_at) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.whatsapp_inbox (id, received_at, signature, body) values ('kept_1', '2026-11-15T12:00:00Z', 'kept_1', '\x01');

insert into toolhub.whatsapp_messages (customer_id, phone_number_id, message_id, contact, sent_at, received_at, message) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z', '{}');

insert into toolhub.whatsapp_statuses (customer_id, phone_number_id, message_id, status, at) values ('kept_1', 'kept_1', 'kept_1', 'kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.whatsapp_unclaimed (phone_number_id, kind, key, received_at, item) values ('kept_1', 'message', 'kept_1', '2026-11-15T12:00:00Z', '{}');

insert into toolhub.billing_settings (customer_id, updated_at) values ('kept_1', '2026-11-15T12:00:00Z');

insert into toolhub.connect_states (customer_id, state_hash, platform, provider, sealed_verifier, created_at, expires_at) values ('kept_1', '\x01', 'kept_1', 'kept_1', '\x01', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00Z');
