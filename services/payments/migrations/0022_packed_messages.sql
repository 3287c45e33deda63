-- Messages are made smaller before they are sealed. They lie in a column of their own: a process of the version before
-- finds nothing there and leaves the message to others, where it would otherwise send bytes that are no message.
alter table rail_messages add column packed_sealed bytea;
alter table rail_messages alter column packed_sealed set storage main;
alter table rail_messages drop constraint rail_messages_check;
alter table rail_messages add constraint rail_messages_check
  check (num_nonnulls(content, content_sealed, packed_sealed) = 1);
