-- Lists that are filtered by what is common find it in the order of the primary key; what is seldom has an index of its
-- own, which the common rows never enter.
alter table events alter column type type text collate "C";
alter table payments alter column rail_selected type text collate "C";
create index events_seldom on events (tenant_id, type, id)
  where type not in ('payment.pending', 'payment.processing', 'payment.completed');
create index payments_not_rtp on payments (tenant_id, rail_selected, id) where rail_selected <> 'rtp';
