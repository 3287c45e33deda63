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
insert into plan_terms (plan, effective_at, name, price_cents, included_calls, overage_cents_per_1000)
select id, '1970-01-01T00:00:00Z', name, price_cents, included_calls, overage_cents_per_1000 from plans;

create function keep_plan_terms() returns trigger language plpgsql set search_path from current as $$
begin
  insert into plan_terms (plan, effective_at, name, price_cents, included_calls, overage_cents_per_1000)
  values (new.id, clock_timestamp(), new.name, new.price_cents, new.included_calls, new.overage_cents_per_1000)
  on conflict (plan, effective_at) do update set name = excluded.name, price_cents = excluded.price_cents,
    included_calls = excluded.included_calls, overage_cents_per_1000 = excluded.overage_cents_per_1000;
  return new;
end
$$;
create trigger plans_keep_terms after insert or update on plans for each row execute function keep_plan_terms();

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

-- Who may not use the service. Small, and held in the memory of every process.
create table suspended_customers (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  reason text,
  suspended_at timestamptz not null
);

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
  customer_id text collate "C" references customers (id) on delete set null,
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
