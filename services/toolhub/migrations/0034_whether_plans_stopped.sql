-- A plan that is made to go on at a price stops for as long as a month is priced by terms under which it stopped: they have no price for
-- calls beyond. Null: nobody knows any more, or a process of the version before has written it, and calls go on.
alter table plan_terms add column hard_stop boolean;

update plan_terms set hard_stop = (plan in (select id from plans where hard_stop))
where (plan, effective_at) in (select newest.plan, max(newest.effective_at) from plan_terms newest group by newest.plan)
  and plan in (select id from plans);

create or replace function keep_plan_terms() returns trigger language plpgsql set search_path from current as $$
begin
  insert into plan_terms (plan, effective_at, name, price_cents, included_calls, overage_cents_per_1000, hard_stop)
  values (
    new.id, statement_timestamp(), new.name, new.price_cents, new.included_calls,
    case when new.hard_stop then 0 else new.overage_cents_per_1000 end, new.hard_stop
  )
  on conflict (plan, effective_at) do update set name = excluded.name, price_cents = excluded.price_cents,
    included_calls = excluded.included_calls, overage_cents_per_1000 = excluded.overage_cents_per_1000,
    hard_stop = excluded.hard_stop;
  return new;
end
$$;
