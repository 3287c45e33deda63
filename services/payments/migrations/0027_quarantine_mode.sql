-- Whether it came in live or in test mode; null where it was put aside before this was kept.
alter table rail_quarantine add column mode text collate "C";
