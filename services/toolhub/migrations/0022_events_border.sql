-- The log of events is divided by time, so that what has expired goes as a whole, by dropping a table. Ids begin with their time, so the id
-- is what it is divided by, and the key stays what it was. What is there becomes the first part, with room for weeks to come. Three
-- files, since each is a transaction: a rule for new rows, a look at the old ones beside the work that goes on, and the change of names.
do $$
declare
  alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  rest bigint := (floor(extract(epoch from clock_timestamp()) / 86400 / 30) + 2) * 30 * 86400000;
  border text := '';
begin
  for place in 1 .. 10 loop
    border := substr(alphabet, (rest % 32)::int + 1, 1) || border;
    rest := rest / 32;
  end loop;
  execute format('alter table events add constraint events_before check (id < %L) not valid', 'evt_' || border);
end $$;
