-- What an assistant called itself when it did something: its token and its registration may be gone when somebody reads the entry.
alter table audit_entries add column actor_name text;
