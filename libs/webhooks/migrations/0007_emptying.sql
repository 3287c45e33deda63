-- Endpoints that were switched off or deleted while more waited for them than one statement may move: those rows go to the log in steps.
-- Until the last is there nothing is read for the endpoint, so that one that is switched on again gets none of them.
create table emptying (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  -- What was added later is for the endpoint as it is by then.
  added_until timestamptz not null,
  primary key (tenant_id, endpoint_id)
);
