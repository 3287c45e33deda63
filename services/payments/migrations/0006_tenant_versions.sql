-- Accepting a payment remembers what it must know of a tenant: its clock, its webhook endpoints, its payment methods.
-- The version counts the changes of these. The statement that accepts compares it with the one that was remembered, so
-- what any process has changed holds for the next payment in every other. Triggers raise it: no writer can forget to.
create table tenant_versions (
  tenant_id text collate "C" primary key,
  version bigint not null
);

create function raise_tenant_version(changed text) returns void language sql as $$
  insert into tenant_versions as known (tenant_id, version) values (changed, 1)
  on conflict (tenant_id) do update set version = known.version + 1
$$;

create function tenant_row_changed() returns trigger language plpgsql as $$
begin
  perform raise_tenant_version(coalesce(new.tenant_id, old.tenant_id));
  return null;
end $$;

-- A new payment method changes nothing that is remembered: that a method is missing never is.
create trigger payment_methods_changed after update on payment_methods
  for each row when ((old.deleted_at, old.type, old.rails_send, old.rails_receive)
    is distinct from (new.deleted_at, new.type, new.rails_send, new.rails_receive))
  execute function tenant_row_changed();
create trigger payment_methods_removed after delete on payment_methods
  for each row execute function tenant_row_changed();

create trigger webhook_endpoints_changed after update on webhook_endpoints
  for each row when ((old.status, old.events) is distinct from (new.status, new.events))
  execute function tenant_row_changed();
create trigger webhook_endpoints_came_or_went after insert or delete on webhook_endpoints
  for each row execute function tenant_row_changed();

create function organisation_clock_changed() returns trigger language plpgsql as $$
begin
  perform raise_tenant_version(new.id || '.test');
  return null;
end $$;
create trigger organisations_clock_changed after update on organisations
  for each row when ((old.clock_frozen_at, old.clock_offset_ms)
    is distinct from (new.clock_frozen_at, new.clock_offset_ms))
  execute function organisation_clock_changed();
