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
