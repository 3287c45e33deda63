-- People: who may act for an organisation without a key. Tables of sessions, tries and links are the login library's.

create table users (
  id text collate "C" primary key,
  email text not null,
  -- The address without case: one address, one account.
  email_key text collate "C" not null unique,
  name text not null,
  password_hash text not null,
  email_verified_at timestamptz,
  -- May use the operator's endpoints; set by the operator alone.
  operator boolean not null default false,
  -- The one that a new session looks at.
  organisation_id text collate "C",
  created_at timestamptz not null
);

alter table sessions add foreign key (person_id) references users (id) on delete cascade;
alter table mail_tokens add foreign key (person_id) references users (id) on delete cascade;

create table memberships (
  organisation_id text collate "C" not null references organisations (id),
  user_id text collate "C" not null references users (id) on delete cascade,
  role text collate "C" not null check (role in ('owner', 'developer', 'viewer')),
  created_at timestamptz not null,
  primary key (organisation_id, user_id)
);
create index memberships_of_user on memberships (user_id, organisation_id);

-- A link that makes its reader a member. It goes when it is accepted or taken back; a second one for the same address
-- replaces the first.
create table invitations (
  organisation_id text collate "C" not null references organisations (id),
  id text collate "C" not null,
  email text not null,
  email_key text collate "C" not null,
  role text collate "C" not null check (role in ('owner', 'developer', 'viewer')),
  -- Null until its mail leaves: no queue ever holds a token.
  token_hash bytea,
  invited_by text collate "C" not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (organisation_id, id),
  unique (organisation_id, email_key)
);
create index invitations_token_hash on invitations using hash (token_hash);

-- Whether people may make live keys. The operator approves; organisations that the operator made are approved.
alter table organisations add column live_access text collate "C" not null default 'approved'
  check (live_access in ('none', 'requested', 'approved', 'refused'));
-- What the organisation wrote with its request, and the operator with the answer.
alter table organisations add column live_access_request text;
alter table organisations add column live_access_reason text;
alter table organisations add column live_access_at timestamptz;
create index organisations_live_access_requested on organisations (live_access_at) where live_access = 'requested';
