create table oauth_clients (
  id text collate "C" primary key,
  -- `own`: the platform's client, written at every start. `registered`: made by dynamic registration.
  kind text not null check (kind in ('own', 'registered')),
  redirect_uris text[] not null,
  metadata jsonb not null,
  secret_hash bytea,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz
);

create table oauth_grants (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  client_id text collate "C" not null,
  payload jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, id)
);
create index oauth_grants_id on oauth_grants (id);

create table oauth_auth_codes (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  code_hash bytea not null,
  grant_id text collate "C" not null,
  client_id text collate "C" not null,
  redirect_uri text not null,
  payload jsonb not null,
  used boolean not null default false,
  used_at timestamptz,
  -- When the tokens for this code were stored: a request that came in later is a late reuse.
  exchanged_at timestamptz,
  -- Until when requests that lost a race for this code are kept waiting; who comes in before that is one of them.
  contended_until timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, code_hash)
);
create index oauth_auth_codes_code_hash on oauth_auth_codes using hash (code_hash);
create index oauth_auth_codes_grant_id on oauth_auth_codes (grant_id);
create index oauth_auth_codes_expires_at on oauth_auth_codes (expires_at);

create table oauth_tokens (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  id text collate "C" not null,
  token_hash bytea not null,
  kind text not null check (kind in ('access', 'refresh')),
  grant_id text collate "C" not null,
  client_id text collate "C" not null,
  scopes text[] not null,
  audience text,
  payload jsonb not null,
  used boolean not null default false,
  used_at timestamptz,
  -- As for codes, when a refresh token is exchanged for its successor.
  exchanged_at timestamptz,
  contended_until timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, id)
);
create index oauth_tokens_token_hash on oauth_tokens using hash (token_hash);
create index oauth_tokens_grant_id on oauth_tokens (grant_id);
create index oauth_tokens_expires_at on oauth_tokens (expires_at);

-- An authorization request on its way through the login and consent pages.
create table oauth_interactions (
  id_hash bytea primary key,
  payload jsonb not null,
  expires_at timestamptz not null
);
create index oauth_interactions_expires_at on oauth_interactions (expires_at);

-- What /oauth/connect-mcp keeps for its callback; the verifier never leaves the server.
create table oauth_connects (
  state_hash bytea primary key,
  sealed_verifier bytea not null,
  expires_at timestamptz not null
);
create index oauth_connects_expires_at on oauth_connects (expires_at);
