-- Platforms whose accounts live on many servers: the service registers itself at each, once for all customers. A row
-- without a client is a registration that is under way, or one that failed.
create table connect_servers (
  platform text collate "C" not null,
  server text collate "C" not null,
  sealed_client bytea,
  -- When the server was last known to know the client.
  checked_at timestamptz,
  lease_id text collate "C",
  lease_until timestamptz,
  primary key (platform, server)
);
create index connect_servers_checked_at on connect_servers (checked_at);

alter table connect_states add column server text collate "C";
