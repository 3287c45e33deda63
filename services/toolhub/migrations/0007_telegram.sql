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
