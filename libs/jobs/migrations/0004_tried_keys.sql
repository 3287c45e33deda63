-- Who fails looks for others of its key that wait to be tried again.
create index jobs_tried_key on jobs (name, key) where key is not null and attempts > 0 and failed_at is null;
