-- What an admin lets through beyond a plan that stops is free, whatever price stands in `plans` for the day on which it goes on again.
create or replace function keep_plan_terms() returns trigger language plpgsql set search_path from current as $$
begin
  insert into plan_terms (plan, effective_at, name, price_cents, included_calls, overage_cents_per_1000)
  values (
    new.id, statement_timestamp(), new.name, new.price_cents, new.included_calls,
    case when new.hard_stop then 0 else new.overage_cents_per_1000 end
  )
  on conflict (plan, effective_at) do update set name = excluded.name, price_cents = excluded.price_cents,
    included_calls = excluded.included_calls, overage_cents_per_1000 = excluded.overage_cents_per_1000;
  return new;
end
$$;

-- Of terms that were followed by others nobody knows whether the plan stopped under them.
update plan_terms set overage_cents_per_1000 = 0
where overage_cents_per_1000 > 0
  and plan in (select id from plans where hard_stop)
  and (plan, effective_at) in (select newest.plan, max(newest.effective_at) from plan_terms newest group by newest.plan);
