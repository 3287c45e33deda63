-- How people get in. Whose rows they are is the service's own table of people, to which it adds the foreign keys.

create table sessions (
  person_id text collate "C" not null,
  id text collate "C" not null,
  token_hash bytea not null,
  -- What the service remembers with it, such as the organisation that the person looks at.
  context text collate "C",
  -- By which a person recognises it in the list.
  ip text,
  user_agent text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (person_id, id)
);
create index sessions_token_hash on sessions using hash (token_hash);
create index sessions_id on sessions (id);
create index sessions_expires_at on sessions (expires_at);

-- One row for each login try that failed, or that is being checked right now (`failed` is null).
create table login_attempts (
  account_key bytea not null,
  id text collate "C" not null,
  at timestamptz not null,
  failed boolean,
  primary key (account_key, id)
);
create index login_attempts_at on login_attempts (at);

-- What a link in a mail carries; only its hash is here. It works once.
create table mail_tokens (
  person_id text collate "C" not null,
  id text collate "C" not null,
  kind text collate "C" not null check (kind in ('verify', 'reset')),
  token_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (person_id, id)
);
create index mail_tokens_token_hash on mail_tokens using hash (token_hash);
create index mail_tokens_expires_at on mail_tokens (expires_at);
