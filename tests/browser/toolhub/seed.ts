// A customer who has used the service for a while.
import { type Account, call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import type { Dashboard } from './rig.ts';
import { VENDOR_TOKEN } from './rig.ts';

const DAYS = 30;

export async function seed(hub: Dashboard): Promise<Account> {
  const { url, receiver } = hub;
  const account = await signUp(url);
  const { cookie } = account;
  await call(`${url}/api/credentials/mastodon`, {
    method: 'PUT',
    cookie,
    body: { instance_url: 'https://social.test', access_token: VENDOR_TOKEN },
  });
  await makeToken(url, account);
  await call(`${url}/api/webhooks/config`, { cookie, body: { webhook_url: `${receiver.url}/hooks` } });
  await call(`${url}/api/webhooks/test`, { cookie, body: {} });
  for (const name of ['mastodon_get_timeline', 'mastodon_list_notifications', 'mastodon_search'])
    await call(`${url}/api/tools/${name}/call`, { cookie, body: { arguments: {} } });
  await addUsage(hub, account.id);
  return account;
}

/** A month of calls, as the rollups keep them. */
async function addUsage({ database }: Dashboard, customerId: string): Promise<void> {
  await database.database.query(
    `insert into usage_daily (customer_id, day, platform, tool, duration_class, calls, errors)
     select $1, current_date - day, platform, platform || '_list_messages', 40, 20 + (day * 7 + length(platform) * 13) % 90, day % 4
     from generate_series(1, $2::int) day, unnest(array['email','mastodon','slack','telegram']) platform
     on conflict do nothing`,
    [customerId, DAYS],
  );
}
