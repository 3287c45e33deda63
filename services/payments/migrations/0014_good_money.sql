-- A debit's money counts when its hold is over, any other entry's at settlement.
alter table ach_entries add column good_at timestamptz;
update ach_entries set good_at = settles_at;
alter table ach_entries alter column good_at set not null;
drop index ach_entries_sent;
create index ach_entries_sent on ach_entries (scope, good_at) where state = 'sent';

-- Returns that came after their deadline are applied, and may be dishonored.
alter table ach_replies add column untimely boolean not null default false;

-- What a source took back after it was paid out stands on an account of its own, until it comes back.
alter table ledger_transfers drop constraint ledger_transfers_kind_check;
alter table ledger_transfers add constraint ledger_transfers_kind_check
  check (kind in ('hold', 'post', 'release', 'reverse', 'fund', 'owe', 'repay'));

-- What was put aside is worked off by the operator: applied to the payment that it belongs to, or dismissed.
alter table rail_quarantine add column status text not null default 'open';
alter table rail_quarantine add constraint rail_quarantine_status_check
  check (status in ('open', 'applied', 'dismissed'));
alter table rail_quarantine add column resolved_at timestamptz;
alter table rail_quarantine add column resolution text;
