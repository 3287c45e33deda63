// A customer who has used the service for a while.
import { type Account, call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import { obtainTokens, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { addDevices } from '../devices.ts';
import type { Dashboard } from './rig.ts';
import { VENDOR_TOKEN } from './rig.ts';

const DAYS = 30;
const otherCredentials = {
  slack: { access_token: 'xoxb-of-ada' },
  telegram: { bot_token: '777:AAE_abcdefghijklmnopqrstuvwxyz012345' },
};

export async function seed(hub: Dashboard): Promise<Account> {
  const { url, receiver } = hub;
  const account = await signUp(url);
  const { cookie } = account;
  await connectMastodon(hub, account);
  for (const [platform, body] of Object.entries(otherCredentials))
    await call(`${url}/api/credentials/${platform}?verify=false`, { method: 'PUT', cookie, body });
  const { database } = hub.database;
  await database.query(`update credentials set status = 'expired' where platform = 'slack'`);
  await database.query('update customers set email_verified_at = now() where id = $1', [account.id]);
  const { token } = await makeToken(url, account);
  const assistant = await registerClient(url, { client_name: 'Desktop assistant' });
  const { access_token: assistantToken } = await obtainTokens(url, account, assistant);
  await callTool(url, assistantToken, 'accounts_list', {});
  await call(`${url}/api/webhooks/config`, { cookie, body: { webhook_url: `${receiver.url}/hooks` } });
  await call(`${url}/api/webhooks/test`, { cookie, body: {} });
  for (const name of ['mastodon_get_timeline', 'mastodon_list_notifications', 'mastodon_search'])
    await call(`${url}/api/tools/${name}/call`, { cookie, body: { arguments: {} } });
  await addUsage(hub, account.id);
  await waitForApproval(url, account, token);
  await addInvoices(hub, account);
  await addDeadLetters(hub, account.id, 1);
  await addDevices(database, 'customer_id', account.id);
  await addFailedJobs(hub);
  return account;
}

export async function connectMastodon({ url }: Dashboard, { cookie }: Account): Promise<void> {
  await call(`${url}/api/credentials/mastodon`, {
    method: 'PUT',
    cookie,
    body: { instance_url: 'https://social.test', access_token: VENDOR_TOKEN },
  });
}

export async function callMastodon({ url }: Dashboard, { cookie }: Account): Promise<void> {
  await call(`${url}/api/tools/mastodon_list_notifications/call`, { cookie, body: { arguments: {} } });
}

/** A month of calls, as the rollups keep them. */
async function addUsage({ database }: Dashboard, customerId: string): Promise<void> {
  await database.database.query(
    `insert into usage_daily (customer_id, day, platform, tool, duration_class, calls, errors)
     select $1, current_date - day, platform, platform || '_list_messages', 44 + place * 5 + quick * 6,
       (400 - 60 * place + day * 37 % 190) / (1 + quick * quick), (day + place) % 4 * quick
     from generate_series(1, $2::int) day, generate_series(0, 3) quick,
       unnest(array['email','mastodon','slack','telegram']) with ordinality as p (platform, place)
     on conflict do nothing`,
    [customerId, DAYS],
  );
  await database.database.query(
    `update usage_counters set used = used + 21_840, kept = kept + 21_840 where customer_id = $1`,
    [customerId],
  );
}

/** Two posts wait for a person. */
export async function waitForApproval(url: string, { cookie }: Account, token: string): Promise<void> {
  await call(`${url}/api/approvals/rules`, {
    ...{ method: 'PUT', cookie, body: { send: true, delete: true, tools: { slack_send_message: false } } },
  });
  for (const text of ['The engine weaves algebraic patterns.', 'Shall this go out?'])
    await callTool(url, token, 'mastodon_create_status', { text, visibility: 'unlisted' });
}

async function callTool(
  url: string,
  token: string,
  name: string,
  args: Record<string, unknown>,
): Promise<void> {
  await call(`${url}/mcp`, {
    token,
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  });
}

/** One that is paid and one that is owed. */
async function addInvoices(
  { url, database: { database } }: Dashboard,
  { id, cookie }: Account,
): Promise<void> {
  await call(`${url}/api/billing-details`, {
    method: 'PUT',
    cookie,
    body: {
      company: 'Analytical Engines Ltd',
      address: '12 St James Square\nLondon SW1Y 4LB\nUnited Kingdom',
      tax_id: 'GB123456789',
    },
  });
  await call(`${url}/api/plan`, { method: 'PUT', cookie, body: { plan: 'starter' } });
  await database.query(`update customers set created_at = created_at - interval '100 days' where id = $1`, [
    id,
  ]);
  await database.query(`update plan_changes set at = at - interval '90 days' where customer_id = $1`, [id]);
  const token = ADMIN_TOKEN;
  for (const months of [2, 1]) {
    const month = new Date();
    month.setUTCMonth(month.getUTCMonth() - months, 1);
    const period = month.toISOString().slice(0, 7);
    await call(`${url}/api/admin/invoices/run`, { token, body: { period } });
    const { body } = await call<{ data: { id: string }[] }>(`${url}/api/invoices`, { cookie });
    if (months === 2)
      await call(`${url}/api/admin/invoices/${body.data[0]?.id}/mark-paid`, { token, body: {} });
  }
}

/** Events that nobody took. */
export async function addDeadLetters(
  { database: { database }, receiver }: Dashboard,
  customerId: string,
  count: number,
): Promise<void> {
  await database.query(
    `insert into toolhub_webhooks.deliveries (tenant_id, id, endpoint_id, event_id, event_type, status, tries, attempts, url,
       created_at, finished_at, expires_at)
     select tenant_id, 'dlv_' || lpad(n::text, 26, '0'), endpoint_id, event_id, event_type, 'dead', 4, $2::jsonb, $3,
       created_at, now(), now() + interval '7 days'
     from (select * from toolhub_webhooks.deliveries where tenant_id = $1 limit 1) one, generate_series(1, $4::int) n`,
    [
      customerId,
      JSON.stringify(
        [1, 4, 16].map((seconds) => ({
          ...{ at: new Date(Date.now() - seconds * 1_000).toISOString(), status: 500, error: null },
          ...{ duration_ms: 12 * seconds, response: 'no room' },
        })),
      ),
      `${receiver.url}/hooks`,
      count,
    ],
  );
}

/** How many entries of the log one question looks at (`services/toolhub/src/audit/store.ts`). */
export const LOOKED_AT_MAX = 10_000;

/** Calls that lie above everything else in the log. */
export async function addAuditEntries(
  { database: { database } }: Dashboard,
  { id }: Account,
  count: number,
): Promise<void> {
  await database.query(
    `insert into audit_entries (customer_id, id, at, actor_type, actor_id, action, target, outcome)
     select $1, 'aud_7zzzzzzzzz' || lpad(n::text, 16, '0'), now(), 'customer', $1, 'tool.call', 'accounts_list', 'success'
     from generate_series(1, $2::int) n`,
    [id, count],
  );
}

/** One that a person can do something about, and one whose words are long. */
async function addFailedJobs({ database: { database } }: Dashboard): Promise<void> {
  await database.query(
    `insert into jobs (name, payload, ready_at, attempts, failed_at, last_error)
     values ('invoices.mail', '{}', now(), 25, now(), 'connect ECONNREFUSED 127.0.0.1:25'),
       ('credentials.upkeep', '{}', now(), 25, now() - interval '1 day',
        'the key k_01m7ps6d14fasp201gh7f8dvtg that sealed this credential is not among those of TOOLHUB_ENCRYPTION_KEY')`,
  );
}

let invoices = 0;

/** As a run of that month would have left it; numbers of no run. */
export async function addInvoice(
  { database: { database } }: Dashboard,
  { id: customerId, email }: Account,
  invoice: { monthsAgo: number; issuedAt?: string; status?: string },
): Promise<{ id: string; number: string }> {
  invoices += 1;
  const number = 900_000 + invoices;
  const id = `inv_${String(number).padStart(26, '0')}`;
  await database.query(
    `insert into invoices (customer_id, id, number, period, status, currency, lines, total_cents, bill_to_name, bill_to_email,
       issued_at, mail_state)
     values ($1, $2, $3, date_trunc('month', now() - $4 * interval '1 month'), $5, 'USD', '[]', 2900, 'Ada', $6, $7, 'sent')`,
    [
      customerId,
      id,
      number,
      invoice.monthsAgo,
      invoice.status ?? 'sent',
      email,
      invoice.issuedAt ?? new Date().toISOString(),
    ],
  );
  return { id, number: `INV-${number}` };
}
