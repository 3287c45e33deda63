-- Those that failed for good are few, and are counted for people.
create index deliveries_undelivered on deliveries (tenant_id, finished_at) where status <> 'delivered';
