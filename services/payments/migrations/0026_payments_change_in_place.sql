-- A payment changes at least twice within seconds. A change whose columns are in no index stays within its page and
-- writes no index, so the status is in none: what lists find by their status has a word of its own, which is the same
-- before and after a payment was handed to its rail. Completed payments have none: they are found in the order of ids.
alter table payments add column listed text collate "C";
update payments set listed = case when status in ('pending', 'processing') then 'open' else status end
  where status <> 'completed';
alter table payments alter column listed set default 'open';
drop index payments_not_completed;
create index payments_listed on payments (tenant_id, listed, id) where listed is not null;
-- Two payments to a page, with room for what becomes of them.
alter table payments set (fillfactor = 45);

create function keep_payment_listed() returns trigger language plpgsql set search_path from current as $$
begin
  new.listed := case when new.status in ('pending', 'processing') then 'open' when new.status <> 'completed' then new.status end;
  return new;
end $$;
-- Called only for who does not set the word: processes of the version before, and what is filled in by hand.
create trigger payments_listed_first before insert on payments
  for each row when (new.status <> 'pending') execute function keep_payment_listed();
create trigger payments_listed_next before update of status on payments
  for each row when (new.listed is distinct from case when new.status in ('pending', 'processing') then 'open'
    when new.status <> 'completed' then new.status end)
  execute function keep_payment_listed();
