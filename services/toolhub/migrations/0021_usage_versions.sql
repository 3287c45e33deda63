-- How often calls of a customer were counted in a month, and how often the days were added up: charts that were read under
-- the same numbers have not changed since.
alter table usage_counters add column settled bigint not null default 0;
alter table usage_rollup_progress add column runs bigint not null default 0;
