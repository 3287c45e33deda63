-- A reset opens another tenant for an organisation's test mode: `org_x.test`, then `org_x.test.1`, and so on. What the one
-- before holds is out of sight from that moment on and is removed later, in bounded turns.
alter table organisations add column test_epoch int not null default 0;

create table closed_tenants (
  tenant_id text collate "C" primary key check (tenant_id ~ '\.test(\.[0-9]+)?$'),
  closed_at timestamptz not null
);

create or replace function organisation_clock_changed() returns trigger language plpgsql set search_path from current as $$
begin
  insert into tenant_versions as known (tenant_id, version)
  values (new.id || '.test' || case when new.test_epoch = 0 then '' else '.' || new.test_epoch end, 1)
  on conflict (tenant_id) do update set version = known.version + 1;
  return null;
end $$;

-- The ledger stays append-only; what can be removed is the whole of a test tenant that was closed.
drop trigger ledger_append_only on ledger_transfers;
create trigger ledger_append_only before update or truncate on ledger_transfers
  for each statement execute function refuse_ledger_change();

create function refuse_ledger_removal() returns trigger language plpgsql set search_path from current as $$
begin
  if exists (select 1 from closed_tenants closed where closed.tenant_id = old.tenant_id) then
    return old;
  end if;
  raise exception 'the ledger is append-only';
end $$;
create trigger ledger_removal before delete on ledger_transfers
  for each row execute function refuse_ledger_removal();
