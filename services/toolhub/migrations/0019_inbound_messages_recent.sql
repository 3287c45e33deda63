-- Tools list what arrived, newest first.
create index inbound_messages_recent on inbound_messages (customer_id, platform, sent_at, account, message_key);
