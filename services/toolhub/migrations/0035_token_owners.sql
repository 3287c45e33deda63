-- Whose a token or a session is, where tables are spread by customer: found on the first server, so that no other than its customer's is
-- asked for it. On one server it stays empty.
create table token_owners (
  -- What it is looked up by: the hash of the token, or the id of the session.
  key bytea primary key,
  customer_id text collate "C" not null,
  -- What is found after that is written here anew.
  kept_until timestamptz not null
);
create index token_owners_customer on token_owners (customer_id);
create index token_owners_kept_until on token_owners (kept_until);
