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
