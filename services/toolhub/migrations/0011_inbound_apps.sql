-- What vendors sent for accounts, byte for byte, before anybody has looked into it. A repeat has the same id.
create table inbound_deliveries (
  platform text collate "C" not null,
  delivery_id text collate "C" not null,
  received_at timestamptz not null,
  signature text not null,
  body bytea not null,
  processed_at timestamptz,
  -- Why nothing could be made of it; such a row is kept.
  problem text,
  primary key (platform, delivery_id)
);
create index inbound_deliveries_processed_at on inbound_deliveries (processed_at) where problem is null;

-- Account at a platform → the customers who proved that it is theirs; a look-up of its own.
create table inbound_accounts (
  platform text collate "C" not null,
  account text collate "C" not null,
  customer_id text collate "C" not null,
  claimed_at timestamptz not null,
  primary key (platform, account, customer_id)
);
create index inbound_accounts_customer on inbound_accounts (customer_id, platform);

-- What came for accounts that belong to nobody yet; it moves on when a customer connects the account.
create table inbound_unclaimed (
  platform text collate "C" not null,
  account text collate "C" not null,
  message_key text collate "C" not null,
  received_at timestamptz not null,
  item json not null,
  primary key (platform, account, message_key)
);
create index inbound_unclaimed_received_at on inbound_unclaimed (received_at);

-- Messages that customers received, with the vendor's own object.
create table inbound_messages (
  customer_id text collate "C" not null,
  platform text collate "C" not null,
  account text collate "C" not null,
  message_key text collate "C" not null,
  channel text collate "C" not null,
  sent_at timestamptz not null,
  received_at timestamptz not null,
  message json not null,
  primary key (customer_id, platform, account, message_key)
);
create index inbound_messages_received_at on inbound_messages (received_at);

-- Messages of bots are told by events, too: those that were stored before count as told.
alter table telegram_messages add column told boolean not null default true;
alter table telegram_messages alter column told set default false;
create index telegram_messages_untold on telegram_messages (customer_id, bot_id) where not told;
