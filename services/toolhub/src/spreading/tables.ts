import { type PlacedTable, type PlacedTables, placeLibraryTables } from '@libs/db';
import { SCHEMA } from '../schema.ts';
import { DELIVERY_SCHEMA } from '../webhooks/rules.ts';

export const TOOLHUB_SCHEMAS = [SCHEMA, DELIVERY_SCHEMA] as const;

const byCustomer: PlacedTable = { placement: 'by tenant', by: 'customer_id' };
const plan: PlacedTable = {
  placement: 'reference',
  why: 'a handful of rows that every customer’s rows are priced by',
};
const beforeLogin: PlacedTable = { placement: 'local', why: 'short-lived, and nobody is logged in yet' };

const tables = {
  // Whoever changes a plan writes its terms, too: see the README.
  plans: { ...plan, triggersDropped: ['plans_keep_terms'] },
  plan_terms: plan,
  customers: { placement: 'by tenant', by: 'id' },
  customer_emails: {
    placement: 'managed local',
    why: 'finds the customer by address; written with the customer',
  },
  sessions: byCustomer,
  login_attempts: beforeLogin,
  personal_tokens: byCustomer,
  token_owners: {
    placement: 'managed local',
    why: 'finds the customer by token or session; written with them',
  },
  mail_tokens: byCustomer,
  passkeys: byCustomer,
  passkey_challenges: {
    placement: 'managed local',
    why: 'short-lived, and found before anybody is logged in; removed with a change of the password',
    wasLocal: true,
  },
  suspended_customers: byCustomer,
  oauth_clients: {
    placement: 'managed local',
    why: 'looked up by id, before the customer is known; that it is used is written with the grant',
  },
  oauth_grants: byCustomer,
  oauth_auth_codes: byCustomer,
  oauth_tokens: byCustomer,
  oauth_interactions: beforeLogin,
  oauth_connects: beforeLogin,
  audit_entries: byCustomer,
  events: byCustomer,
  webhook_configs: byCustomer,
  credentials: byCustomer,
  connect_states: byCustomer,
  connect_servers: {
    placement: 'local',
    why: 'one row for each server at which anybody has an account; no customer’s, and swept when unused',
  },
  health_reports: byCustomer,
  tool_switches: byCustomer,
  idempotent_calls: byCustomer,
  approval_rules: byCustomer,
  approval_remembered: byCustomer,
  approvals: byCustomer,
  approval_mails: byCustomer,
  call_holders: {
    placement: 'managed local',
    why: 'one row for each process; removed with its reservations',
  },
  meters: {
    placement: 'managed local',
    why: 'one row for each process; raised with what it counts',
  },
  usage_counters: byCustomer,
  usage_reservations: byCustomer,
  usage_daily: byCustomer,
  usage_recent: byCustomer,
  usage_rollups: byCustomer,
  usage_rollup_progress: { placement: 'local', why: 'one row: how far the days are added up' },
  told_thresholds: byCustomer,
  billing_settings: byCustomer,
  billing_details: byCustomer,
  plan_changes: byCustomer,
  job_locks: { placement: 'local', why: 'one row for each kind of work' },
  invoice_series: {
    placement: 'managed local',
    why: 'one row; raised with the invoices, so that there is no gap',
    isSeeded: true,
  },
  invoice_periods: { placement: 'local', why: 'one row for each month' },
  invoices: byCustomer,
  telegram_bots: byCustomer,
  telegram_messages: byCustomer,
  telegram_webhooks: {
    placement: 'managed local',
    why: 'finds the customer by address; changed with the customer’s rows',
  },
  whatsapp_inbox: {
    placement: 'managed local',
    why: 'kept before anybody knows whose it is; swept when processed',
  },
  phone_numbers: {
    placement: 'managed local',
    why: 'finds the customer by number; changed with the customer’s rows',
  },
  whatsapp_unclaimed: {
    placement: 'managed local',
    why: 'belongs to nobody yet; moves on to the one who claims it',
  },
  inbound_deliveries: {
    placement: 'managed local',
    why: 'kept before anybody knows whose it is; swept when processed',
  },
  inbound_accounts: {
    placement: 'managed local',
    why: 'finds the customers by account; changed with the customer’s rows',
  },
  inbound_unclaimed: {
    placement: 'managed local',
    why: 'belongs to nobody yet; moves on to the one who connects the account',
  },
  inbound_messages: byCustomer,
  whatsapp_messages: byCustomer,
  whatsapp_contacts: byCustomer,
  whatsapp_statuses: byCustomer,
} satisfies Record<string, PlacedTable>;

export const TOOLHUB_TABLES: PlacedTables = {
  ...placeLibraryTables(SCHEMA, DELIVERY_SCHEMA),
  [`${DELIVERY_SCHEMA}.emptying`]: { placement: 'managed local', why: 'joined with the lanes' },
  ...Object.fromEntries(Object.entries(tables).map(([name, table]) => [`${SCHEMA}.${name}`, table])),
};
