-- When somebody had a delivery tried again, for those: of an endpoint that was switched off and on again they are as new as what was added
-- since, though they are older than the switch.
alter table queue add column added_at timestamptz;
