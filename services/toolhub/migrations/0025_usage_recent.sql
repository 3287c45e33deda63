-- How often each tool was called on the days that are not added up yet. It is written with `usage_daily` and has one row where that has
-- one for each class of duration: whoever remembers a day sees by these few which of the many rows to read again. Old days go each night.
create table usage_recent (
  customer_id text collate "C" not null,
  day date not null,
  tool text collate "C" not null,
  calls bigint not null,
  primary key (customer_id, day, tool)
) with (fillfactor = 50);
