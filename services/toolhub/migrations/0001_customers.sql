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
