-- Where a bot's messages are sent to us: finds the customer by the last part of the address. A row is written before the
-- platform is told of the address, so that nothing which arrives is unknown.
create table telegram_webhooks (
  hook_id text collate "C" primary key,
  -- Null once nobody is connected by it any more; what still arrives then has the platform forget the address.
  customer_id text collate "C",
  bot_id bigint not null,
  -- The platform sends the secret with every message; only its hash is kept.
  secret_hash bytea not null,
  -- The address without its last part, as it was when the platform was told.
  base_url text not null,
  is_set boolean not null default false,
  checked_at timestamptz not null
);
create unique index telegram_webhooks_bot on telegram_webhooks (customer_id, bot_id) where customer_id is not null;
create index telegram_webhooks_left on telegram_webhooks (checked_at) where customer_id is null;
