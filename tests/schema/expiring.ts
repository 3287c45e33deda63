import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Tables whose old rows go by dropping parts (`renewParts`). From a part of the deliveries of which very much is kept for longer, what was
 * delivered goes in steps until the part can go.
 */
export const DIVIDED = [
  'payments.events',
  'payments.request_logs',
  'payments_webhooks.deliveries',
  'toolhub.events',
  'toolhub_webhooks.deliveries',
];

const CALLERS_KEY =
  'its key is the caller\u2019s, and only a unique key over all times keeps two of one thing apart: that of a divided table would have to contain the time';
const VENDORS_KEY =
  'its key is the vendor\u2019s, which keeps what is delivered twice out, and tells no time';
const FEW = 'few rows: people make them, by hand';
const SHORT = 'lives for minutes or hours, bounded by the limits on who may ask';
const WORKED_OFF = 'goes when it was worked off, not by its age';

/** Tables whose old rows are deleted in bounded steps, each with the reason. */
export const DELETED_IN_STEPS: Readonly<Record<string, string>> = {
  idempotency_keys: CALLERS_KEY,
  idempotent_calls: CALLERS_KEY,
  request_logs_left_out: 'one row for each tenant and day',
  payment_figures: 'one row for each tenant, hour and kind',
  payment_settle_times: 'one row for each tenant and hour',
  usage_recent: 'one row for each customer and tool of the last days',
  reconciliations: 'one row for each day and rail',
  reconciliation_differences: WORKED_OFF,
  rail_quarantine: WORKED_OFF,
  whatsapp_inbox: WORKED_OFF,
  inbound_deliveries: WORKED_OFF,
  audit_entries: FEW,
  invitations: FEW,
  personal_tokens: FEW,
  approvals: FEW,
  oauth_grants: FEW,
  oauth_clients: FEW,
  connect_servers: 'one row for each server at which anybody has an account',
  telegram_webhooks: 'one row for each bot',
  inbound_unclaimed: VENDORS_KEY,
  inbound_messages: VENDORS_KEY,
  telegram_messages: VENDORS_KEY,
  sessions: SHORT,
  token_owners: 'one row for each token of the last weeks, and none on one server',
  mail_tokens: SHORT,
  login_attempts: SHORT,
  passkey_challenges: SHORT,
  connect_states: SHORT,
  oauth_auth_codes: SHORT,
  oauth_connects: SHORT,
  call_holders: 'one row for each process',
  meters: 'one row for each process',
  // Tables that a library names by a variable.
  'libs/http rate limits': 'unlogged, one row for each key that is in use',
  'libs/webhooks dispatchers': 'one row for each process',
  'oauth interactions and connects': SHORT,
};

/** Names in place of those that are made of variables. */
const NAMED: Readonly<Record<string, string>> = {
  '${processes}': 'libs/http rate limits',
  '${buckets}': 'libs/http rate limits',
  '${schema}.dispatchers': 'libs/webhooks dispatchers',
  '${schema}.deliveries': 'deliveries',
  '${part}': 'deliveries',
  '${table}': 'oauth interactions and connects',
};

/** The tables of which statements in the stores delete rows by their age. */
export function findTablesThatExpire(): string[] {
  const found = new Set<string>();
  for (const group of ['services', 'libs'])
    for (const file of readdirSync(join(root, group), { recursive: true, encoding: 'utf8' })) {
      if (!/(^|[/-])store\.ts$/.test(file) || file.includes('node_modules')) continue;
      const text = readFileSync(join(root, group, file), 'utf8');
      for (const [, table = '', rest = ''] of text.matchAll(
        /delete from ([\w.${}]+)((?:(?!delete from)[^`;]){0,400})/g,
      ))
        if (/\b(?:\w*_at|at|day|hour)\b(?:, \w+\))? <=? /.test(rest))
          found.add(NAMED[table] ?? table.replace(/_default$/, ''));
    }
  return [...found].sort();
}
