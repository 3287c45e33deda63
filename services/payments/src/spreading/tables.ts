import { type PlacedTable, type PlacedTables, placeLibraryTables } from '@libs/db';
import { SCHEMA } from '../migrations.ts';
import { DELIVERY_SCHEMA } from '../webhooks/rules.ts';

export const PAYMENTS_SCHEMAS = [SCHEMA, DELIVERY_SCHEMA] as const;

const byTenant: PlacedTable = { placement: 'by tenant', by: 'tenant_id' };
const sandbox: PlacedTable = {
  placement: 'local',
  why: 'the books of a simulated network, which knows no tenants',
};

const person: PlacedTable = {
  placement: 'managed local',
  why: 'few; people are in several organisations, and found before the tenant is known',
};

const tables = {
  organisations: {
    placement: 'managed local',
    why: 'few; a change of its clock raises the version of its tenant',
    triggersDropped: ['organisations_clock_changed'],
  },
  api_keys: { placement: 'managed local', why: 'few; looked up by hash, before the tenant is known' },
  users: person,
  sessions: person,
  mail_tokens: person,
  passkeys: person,
  passkey_challenges: { placement: 'managed local', why: 'short-lived; removed with the person' },
  audit_entries: {
    placement: 'managed local',
    why: 'people are in several organisations; swept after a year',
  },
  login_attempts: { placement: 'local', why: 'short-lived, and nobody is logged in yet' },
  memberships: person,
  invitations: person,
  tenant_versions: byTenant,
  closed_tenants: {
    placement: 'reference',
    why: 'few; asked by the trigger that lets rows of a closed tenant go, wherever those are',
  },
  payment_methods: byTenant,
  payments: {
    ...byTenant,
    triggersDropped: ['payments_listed', 'payments_listed_anew', 'payments_unlisted'],
    indexed: [
      "create index if not exists payments_not_completed on payments.payments (tenant_id, status, id) where status <> 'completed'",
    ],
  },
  payments_uncompleted: {
    placement: 'local',
    why: 'follows statements on payments, which it cannot on other servers: there an index does its work',
  },
  idempotency_keys: byTenant,
  events: byTenant,
  ledger_transfers: byTenant,
  ledger_balances: byTenant,
  ledger_places: byTenant,
  ledger_sums: byTenant,
  ledger_proofs: byTenant,
  ledger_fees: byTenant,
  webhook_endpoints: byTenant,
  overview_places: byTenant,
  payment_figures: byTenant,
  payment_settle_times: byTenant,
  request_logs: byTenant,
  request_logs_left_out: byTenant,
  rail_messages: byTenant,
  rail_references: {
    placement: 'managed local',
    why: 'finds the tenant by the reference that a network answers with; written with the tenant’s rows',
  },
  rail_quarantine: {
    placement: 'managed local',
    why: 'what could not be matched has no tenant; worked off with the rows of the payment that it is for',
    wasLocal: true,
  },
  reconciliations: { placement: 'local', why: 'one row for each day and rail' },
  reconciliation_differences: { placement: 'local', why: 'few; some belong to no tenant' },
  reconciliation_runs: { placement: 'local', why: 'one row for each rail' },
  rail_health: { placement: 'local', why: 'one row for each rail' },
  ach_entries: byTenant,
  ach_files: { placement: 'managed local', why: 'holds entries of many tenants; written with theirs' },
  ach_counters: { placement: 'managed local', why: 'one row for each scope; raised with the entries' },
  ach_answers: { placement: 'managed local', why: 'answers for many tenants; written with what they change' },
  ach_replies: byTenant,
  rtp_submissions: byTenant,
  sandbox_ach_files: sandbox,
  sandbox_ach_entries: sandbox,
  sandbox_ach_answers: sandbox,
  sandbox_ach_outbox: sandbox,
  sandbox_rtp_transfers: sandbox,
  sandbox_rtp_orders: sandbox,
} satisfies Record<string, PlacedTable>;

export const PAYMENTS_TABLES: PlacedTables = {
  ...placeLibraryTables(SCHEMA, DELIVERY_SCHEMA),
  [`${DELIVERY_SCHEMA}.emptying`]: { placement: 'managed local', why: 'joined with the lanes' },
  ...Object.fromEntries(Object.entries(tables).map(([name, table]) => [`${SCHEMA}.${name}`, table])),
};
