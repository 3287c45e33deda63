-- When a customer was last told by mail that calls wait, so that many of them are told of at once.
create table approval_mails (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  planned_at timestamptz not null
);

-- When the log was told that nobody decided in time.
alter table approvals add column expiry_noted_at timestamptz;
