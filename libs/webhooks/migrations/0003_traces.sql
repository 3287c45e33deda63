-- Whose request an event follows from (W3C Trace Context), as the transaction that adds it says: `set local trace.parent`.
alter table queue add column traceparent text default nullif(current_setting('trace.parent', true), '');
