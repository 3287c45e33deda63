-- The end that the customer was warned of: a token that is replaced has another, and is warned of anew.
alter table credentials add column warned_for timestamptz;
-- Tokens that end: those to renew ahead, and those to warn of.
create index credentials_ending on credentials (platform, expires_at, customer_id, slot)
  where status = 'connected' and expires_at is not null;
