alter table passkeys add foreign key (person_id) references users (id) on delete cascade;
alter table passkey_challenges add foreign key (person_id) references users (id) on delete cascade;

-- The person asked that a password alone does not let anybody in.
alter table users add column passkey_required boolean not null default false;

-- What people did, for the owners of the organisation that it concerned. Kept for a year.
create table audit_entries (
  id text collate "C" primary key,
  at timestamptz not null,
  -- Null where it concerned the person alone.
  organisation_id text collate "C",
  user_id text collate "C" not null,
  action text not null,
  target text,
  outcome text collate "C" not null check (outcome in ('success', 'refused', 'failure')),
  ip text,
  request_id text collate "C" not null
);
create index audit_entries_of_organisation on audit_entries (organisation_id, id);
create index audit_entries_at on audit_entries (at);
