-- As in the login library, whose statements name it: the proof of the password before a second factor.
alter table passkey_challenges add column password_proof bytea;
