-- To an address that nobody has proved to read, nothing is mailed but the ways to prove it.
alter table customers add column email_verified_at timestamptz;

-- What a link in a mail carries; only its hash is here. It works once.
create table mail_tokens (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  kind text collate "C" not null check (kind in ('verify', 'reset')),
  token_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, id)
);
create index mail_tokens_token_hash on mail_tokens using hash (token_hash);
create index mail_tokens_expires_at on mail_tokens (expires_at);

-- By which a person recognises a session in the list of them.
alter table sessions add column ip text;
alter table sessions add column user_agent text;

-- An admin's limit and the customer's spend cap hold both: the lower one closes the gate.
create or replace function calls_stop_at(
  monthly_calls bigint, spend_cap_cents bigint, hard_stop boolean, included_calls bigint, price_cents bigint,
  overage_cents_per_1000 bigint
) returns bigint language sql immutable
return least(
  case when monthly_calls is not null then monthly_calls when hard_stop then included_calls end,
  case
    when hard_stop or spend_cap_cents is null or overage_cents_per_1000 = 0 then null
    else included_calls + greatest(spend_cap_cents - price_cents, 0) * 1000 / overage_cents_per_1000
  end
);

-- `notified_percent` is of this limit; another limit begins anew, and `told_thresholds` knows what it told before.
alter table usage_counters add column notified_limit bigint;
create table told_thresholds (
  customer_id text collate "C" not null,
  month date not null,
  calls_limit bigint not null,
  percent int not null,
  primary key (customer_id, month, calls_limit, percent)
);

-- Calls whose unit was given back; the others are charged, also those that failed in a way nobody can tell.
alter table usage_daily add column given_back bigint not null default 0;
update usage_daily set given_back = errors where errors > 0;

-- `waiting`: the address is not verified yet.
alter table invoices drop constraint invoices_mail_state_check;
alter table invoices add constraint invoices_mail_state_check
  check (mail_state in ('waiting', 'pending', 'sending', 'sent', 'failed', 'canceled'));

create index oauth_grants_client_id on oauth_grants (client_id);
