-- Those that were there before the triggers. Locked, so that none moves between the look and the entry, which would then say what it was.
do $$
begin
  if exists (select from pg_trigger where tgrelid = 'payments'::regclass and tgname = 'payments_listed') then
    insert into payments_uncompleted (tenant_id, status, id)
    select tenant_id, status, id from payments where status <> 'completed' for share
    on conflict do nothing;
  end if;
end $$;
