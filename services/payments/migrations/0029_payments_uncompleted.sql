-- Payments that did not complete, or not yet, by status. They were found by an index on payments; but a change of what any index holds makes a
-- new entry in every index of the row, and each payment changes twice on its way. With its status in none, the row changes on its page and writes
-- to no index: of 11 entries that a payment made on its way 5 are left, and its changes cost Postgres little more than half.
-- Triggers keep the list: no writer can forget it, nor can a process of the version before. Each is called once for all rows of a statement.
-- Where tables are spread over servers a statement cannot be followed so: there the index stays, or comes back (spreading/tables.ts).
create table payments_uncompleted (
  tenant_id text collate "C" not null,
  status text collate "C" not null,
  id text collate "C" not null,
  primary key (tenant_id, status, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.1);

create function list_new_payments() returns trigger language plpgsql set search_path from current as $$
begin
  insert into payments_uncompleted (tenant_id, status, id) select tenant_id, status, id from added where status <> 'completed';
  return null;
end $$;

create function list_moved_payments() returns trigger language plpgsql set search_path from current as $$
begin
  delete from payments_uncompleted u using earlier
  where earlier.status <> 'completed' and u.tenant_id = earlier.tenant_id and u.status = earlier.status and u.id = earlier.id;
  insert into payments_uncompleted (tenant_id, status, id) select tenant_id, status, id from later where status <> 'completed';
  return null;
end $$;

create function unlist_payments() returns trigger language plpgsql set search_path from current as $$
begin
  delete from payments_uncompleted u using earlier
  where earlier.status <> 'completed' and u.tenant_id = earlier.tenant_id and u.status = earlier.status and u.id = earlier.id;
  return null;
end $$;

do $$
declare
  is_spread boolean := false;
begin
  if to_regclass('pg_dist_partition') is not null then
    execute $q$ select exists (select from pg_dist_partition where logicalrelid = 'payments'::regclass) $q$ into is_spread;
  end if;
  if is_spread then return; end if;
  create trigger payments_listed after insert on payments
    referencing new table as added for each statement execute function list_new_payments();
  create trigger payments_listed_anew after update on payments
    referencing old table as earlier new table as later for each statement execute function list_moved_payments();
  create trigger payments_unlisted after delete on payments
    referencing old table as earlier for each statement execute function unlist_payments();
  -- Room on the page for what becomes of the rows that come first.
  alter table payments set (fillfactor = 50);
  -- Processes of the version before look for payments by it; where there are none yet, there are no such processes. It goes in a later release.
  if not exists (select from payments) then drop index payments_not_completed; end if;
end $$;
