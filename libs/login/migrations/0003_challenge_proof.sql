-- Of a second factor: a digest of the password's hash that was proved before it, so that another password makes it worthless.
alter table passkey_challenges add column password_proof bytea;
