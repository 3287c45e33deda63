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
