-- Keys that are past their time are found in order. The index by ranges of pages (`idempotency_keys_created`) tells little once new keys fill
-- the room of old ones: every range then reaches over a month, and each sweep reads the table. New keys go to the right edge of this one: 23
-- bytes for each, and of 200,000 that were added with it and without it, what it takes was lost in the noise. The old one goes in a later release.
-- Whoever has many keys builds it beforehand, while payments are accepted (docs/upgrades.md): then it is there already.
create index if not exists idempotency_keys_by_age on idempotency_keys (created_at);
