-- Which claim of its holder wrote the row: whoever got no answer to a claim frees by it what may have been written. Null in rows of processes of
-- the version before, which also leave that of a claim that has run out where they take its place: it counts together with the holder alone.
alter table idempotent_calls add column claim text collate "C";
