-- What a customer wants to stand on its invoices, beside the name of the account.
create table billing_details (
  customer_id text collate "C" primary key references customers (id) on delete cascade,
  company text,
  address text,
  tax_id text collate "C",
  updated_at timestamptz not null
);

-- An invoice keeps both parties as of the day it was issued. Null where it was made before they were known.
alter table invoices add column bill_to_company text;
alter table invoices add column bill_to_address text;
alter table invoices add column bill_to_tax_id text collate "C";
alter table invoices add column issuer jsonb;
