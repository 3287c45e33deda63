-- Of each process that counts calls, the last of its batches that was counted. A batch is counted in the transaction that raises the number
-- to its own, so one that is sent again because no answer came finds out by it. Rows of processes that are gone are deleted after days.
create table meters (
  id text collate "C" primary key,
  batch bigint not null,
  counted_at timestamptz not null
) with (fillfactor = 50);
