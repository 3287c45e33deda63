-- Jobs that failed for good are few, and are counted whenever somebody looks at the metrics.
create index jobs_failed on jobs (name) where failed_at is not null;
