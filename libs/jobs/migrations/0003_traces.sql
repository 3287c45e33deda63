-- Whose request a job follows from (W3C Trace Context), as the transaction that adds it says: `set local trace.parent`.
alter table jobs add column traceparent text default nullif(current_setting('trace.parent', true), '');
