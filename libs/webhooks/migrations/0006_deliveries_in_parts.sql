-- The rows stay where they are: their table becomes the first part, without another look at them. The part for everything else takes
-- rows of a clock that is far ahead, and those that outlive their part.
alter table deliveries rename to deliveries_before;
alter index deliveries_pkey rename to deliveries_before_pkey;
alter index deliveries_by_endpoint rename to deliveries_by_endpoint_before;
alter index deliveries_dead rename to deliveries_dead_before;
alter index deliveries_expiring rename to deliveries_expiring_before;
alter index deliveries_finished rename to deliveries_finished_before;
alter index deliveries_undelivered rename to deliveries_undelivered_before;
create table deliveries (like deliveries_before including defaults including storage) partition by range (id);
alter table deliveries add constraint deliveries_pkey primary key (tenant_id, id);
alter table deliveries add constraint deliveries_status_check check (status in ('delivered', 'failed', 'abandoned', 'dead'));
create index deliveries_by_endpoint on deliveries (tenant_id, endpoint_id, id);
create index deliveries_dead on deliveries (tenant_id, id) where status = 'dead';
create index deliveries_expiring on deliveries (expires_at) where expires_at is not null;
create index deliveries_finished on deliveries using brin (finished_at);
create index deliveries_undelivered on deliveries (tenant_id, finished_at) where status <> 'delivered';
do $$
declare
  border constant text := (
    select substring(pg_get_constraintdef(oid) from 'dlv_[0-9a-z]+') from pg_constraint
    where conrelid = 'deliveries_before'::regclass and conname = 'deliveries_before');
begin
  if border is null then
    alter table deliveries_before rename to deliveries_default;
    alter table deliveries attach partition deliveries_default default;
  else
    execute format('alter table deliveries attach partition deliveries_before for values from (minvalue) to (%L)', border);
    alter table deliveries_before drop constraint deliveries_before;
    create table deliveries_default partition of deliveries default;
  end if;
end $$;
