-- Whole days and whole months of `usage_daily`, added up once they are over, so that a chart of a year reads some hundred
-- rows however many calls there were. `class_calls` says how many calls each of `classes` (of duration) had.
create table usage_rollups (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  grouping text collate "C" not null check (grouping in ('day', 'platform', 'tool')),
  span text collate "C" not null check (span in ('day', 'month')),
  starts_on date not null,
  key text collate "C" not null,
  calls bigint not null,
  errors bigint not null,
  p50_class smallint not null,
  p95_class smallint not null,
  classes smallint[] not null,
  class_calls bigint[] not null,
  primary key (customer_id, grouping, span, starts_on, key)
);

-- Days before this one are in the rollups, those of every customer. One row.
create table usage_rollup_progress (
  name text collate "C" primary key,
  rolled_before date not null
);
