-- Who worked off what was put aside: the operator's token, or a person.
alter table rail_quarantine add column resolved_by text;
alter table rail_quarantine alter column status type text collate "C";
alter table rail_quarantine alter column rail type text collate "C";
create index rail_quarantine_by_status on rail_quarantine (status, received_at, id);
create index rail_quarantine_by_rail on rail_quarantine (rail, received_at, id);
create index rail_quarantine_resolved on rail_quarantine (resolved_at) where resolved_at is not null;

-- What is settled goes after its time, and a sandbox's differences do, too.
create index reconciliation_differences_resolved on reconciliation_differences (resolved_at) where resolved_at is not null;
create index reconciliation_differences_of_tests on reconciliation_differences (first_seen_at) where mode = 'test';

-- The last day on which it was said that differences still stand.
alter table reconciliation_runs add column told_on date;

create index ach_files_rejected on ach_files (id) where refusal is not null;
create index ach_files_waiting on ach_files (id) where sent_at is null;
