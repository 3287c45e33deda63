-- The rows stay where they are: their table becomes the first part, without another look at them. The part for everything else takes
-- rows of a clock that is far ahead, and those that outlive their part.
alter table events rename to events_before;
alter index events_pkey rename to events_before_pkey;
alter index events_created_at rename to events_created_at_before;
create table events (like events_before including defaults including storage) partition by range (id);
alter table events add constraint events_pkey primary key (customer_id, id);
create index events_created_at on events using brin (created_at);
do $$
declare
  border constant text := (
    select substring(pg_get_constraintdef(oid) from 'evt_[0-9a-z]+') from pg_constraint
    where conrelid = 'events_before'::regclass and conname = 'events_before');
begin
  if border is null then
    alter table events_before rename to events_default;
    alter table events attach partition events_default default;
  else
    execute format('alter table events attach partition events_before for values from (minvalue) to (%L)', border);
    alter table events_before drop constraint events_before;
    create table events_default partition of events default;
  end if;
end $$;
