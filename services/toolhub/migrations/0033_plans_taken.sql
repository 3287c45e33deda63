-- When a customer took the plan, which a call looks for in a month in which the settings were changed.
create index plan_changes_taken on plan_changes (customer_id, at) where plan <> previous_plan;
