-- In a month with several plans the spend cap has to pay for what the earlier ones cost as well. What that is is reckoned once a day, at the
-- first call that needs it, and stands here for the gate. Null: nobody has reckoned since the last change.
alter table billing_settings add column reckoned_day date;
-- The change (`updated_at`) that it was reckoned after: processes of the version before change the plan and leave `reckoned_day` as it is.
alter table billing_settings add column reckoned_change timestamptz;
-- The plan by whose terms calls of that day are priced. Null, as the three below, where the month has had one plan so far.
alter table billing_settings add column reckoned_plan text collate "C";
-- Up to here calls of the month cost nothing more on that day.
alter table billing_settings add column reckoned_free_calls bigint;
-- What a thousand calls beyond cost on that day.
alter table billing_settings add column reckoned_cents_per_1000 bigint;
-- What the month costs without that day's calls, in thousandths of a cent: the plans, and calls beyond them on the days before.
alter table billing_settings add column reckoned_millicents bigint;
