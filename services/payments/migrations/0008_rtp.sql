-- Serial numbers of our messages and instructions. They stand behind the date in an identifier, so starting over after
-- a hundred thousand million of them repeats none.
create sequence rtp_serials maxvalue 99999999999 cycle;

-- One row per instruction: what became of it, and what is needed to ask after it. Timers are jobs, so that no index
-- changes when the state does: both updates in the life of an ordinary row stay within its page.
create table rtp_submissions (
  tenant_id text collate "C" not null,
  instruction_id text collate "C" not null,
  payment_id text collate "C" not null,
  attempt_id text collate "C" not null,
  -- The transfer as it was written, in `rail_messages`; and what the network calls that message.
  stored_message_id text collate "C" not null,
  message_id text collate "C" not null,
  amount bigint not null check (amount > 0),
  settlement_date date not null,
  state text not null check (state in ('sent', 'unknown', 'accepted', 'rejected', 'not_sent')),
  -- Real time; null until the message is handed over for the first time.
  first_sent_at timestamptz,
  due_at timestamptz,
  inquiries smallint not null,
  resends smallint not null,
  reject_code text,
  primary key (tenant_id, instruction_id)
) with (fillfactor = 50);
create index rtp_submissions_settlement on rtp_submissions using brin (settlement_date);
