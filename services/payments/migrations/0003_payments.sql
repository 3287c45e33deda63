-- Payments, the keys that make a repeat harmless, and what happened.
create table payments (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  -- The statuses and moves of `payments/states.ts`; a test compares them.
  status text collate "C" not null
    check (status in ('pending', 'processing', 'canceled', 'failed', 'completed', 'returned')),
  amount bigint not null check (amount between 1 and 9999999999),
  source_id text collate "C" not null,
  destination_id text collate "C" not null,
  -- Whose money moves: a balance held here, or the world outside (see the ledger).
  debit_account text collate "C" not null,
  credit_account text collate "C" not null,
  rail_selected text not null,
  fallback boolean not null,
  metadata jsonb not null,
  -- The time of the organisation's clock; the order of creation in real time is that of the ids.
  created_at timestamptz not null,
  -- The payment as the API shows it: the same bytes as in the response and in its last event.
  document text not null,
  primary key (tenant_id, id),
  check (source_id <> destination_id)
);
create index payments_by_source on payments (tenant_id, source_id, id);
create index payments_by_destination on payments (tenant_id, destination_id, id);
-- Most payments are completed: those are found in the order of the primary key without an index of their own.
create index payments_not_completed on payments (tenant_id, status, id) where status <> 'completed';
create index payments_by_metadata on payments using gin (metadata jsonb_path_ops) where metadata <> '{}';
create index payments_created on payments using brin (created_at);

create function refuse_payment_move() returns trigger language plpgsql set search_path from current as $$
begin
  raise exception 'payment % cannot go from % to %', old.id, old.status, new.status using errcode = 'check_violation';
end $$;
-- The table of moves, enforced where every writer must pass. A transaction may make several moves and write the row
-- once, so what it may write is what can be reached. The trigger's condition is evaluated in passing, and the function
-- is called only to refuse: as a call for every row it was a measurable part of completing a payment.
create trigger payments_move before update of status on payments
  for each row when (old.status is distinct from new.status and not (
    (old.status = 'pending' and new.status in ('processing', 'canceled', 'failed', 'completed', 'returned'))
    or (old.status = 'processing' and new.status in ('failed', 'completed', 'returned'))
    or (old.status = 'completed' and new.status = 'returned')
  ))
  execute function refuse_payment_move();

create table idempotency_keys (
  tenant_id text collate "C" not null,
  path text collate "C" not null,
  key text collate "C" not null,
  fingerprint bytea not null,
  -- A payment's first response is the data of its first event; other responses are kept here, sealed, because they may
  -- hold secrets that are shown once.
  event_id text collate "C",
  status smallint not null,
  response_sealed bytea,
  created_at timestamptz not null,
  primary key (tenant_id, path, key)
);
create index idempotency_keys_created on idempotency_keys using brin (created_at);

create table events (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  subject_id text collate "C" not null,
  -- The object as it was then, exactly as the API showed it.
  data text not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  primary key (tenant_id, id)
);
create index events_of_subject on events (tenant_id, subject_id, id);
create index events_created on events using brin (created_at);
