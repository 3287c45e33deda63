-- Debits that came back for want of money may be presented again, twice at most; each presentment is an attempt of its
-- own, and the index is what stops a second worker from presenting one twice.
alter table ach_entries
  add column presentment smallint not null default 0,
  add constraint ach_entries_presentment check (presentment between 0 and 2 and (presentment = 0 or leg = 'debit'));
create unique index ach_entries_presented_again on ach_entries (tenant_id, payment_id, presentment)
  where presentment > 0;

-- Messages hold account numbers, so what is kept of them is sealed. What was kept in the clear before can still be read.
alter table rail_messages
  alter column content drop not null,
  add column content_sealed bytea,
  add constraint rail_messages_content check (num_nonnulls(content, content_sealed) = 1);

alter table rail_quarantine
  alter column content drop not null,
  add column content_sealed bytea,
  add constraint rail_quarantine_content check (num_nonnulls(content, content_sealed) = 1);
create index rail_quarantine_received on rail_quarantine (received_at, id);

-- Sealed text does not get smaller, and a message fits a page: within its row it costs one insert instead of three.
alter table rail_messages alter column content_sealed set storage main;

-- The simulated network has to recognise a transfer that comes again, not to know its accounts: a keyed mark will do.
alter table sandbox_rtp_transfers
  drop column debtor_account,
  drop column creditor_account,
  add column accounts_mark text not null default '';
alter table sandbox_rtp_transfers alter column accounts_mark drop default;
