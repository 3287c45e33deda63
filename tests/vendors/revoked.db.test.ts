// Every platform over the whole way of a call: it works while the vendor takes the credential; when it does not any more, the
// assistant is told where to connect anew, the customer once, and the vendor is not asked again and again.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool } from '../../services/toolhub/src/mcp/test/rig.ts';
import { makeToken } from '../../services/toolhub/test/accounts.ts';
import { createToolhubDatabase, type Instance, startInstance } from '../../services/toolhub/test/instance.ts';
import { apiOf, type Customer, newCustomer } from '../contract/toolhub/customer.ts';
import { type Everything, startEverything } from './everything.ts';

const READS: Record<string, [tool: string, args: Record<string, unknown>]> = {
  whatsapp: ['whatsapp_list_templates', {}],
  telegram: ['telegram_get_chat', { chat_id: 5 }],
  slack: ['slack_list_channels', {}],
  discord: ['discord_list_servers', {}],
  x: ['x_get_profile', {}],
  linkedin: ['linkedin_get_profile', {}],
  facebook: ['facebook_list_pages', {}],
  instagram: ['instagram_list_media', {}],
  bluesky: ['bluesky_get_timeline', {}],
  mastodon: ['mastodon_get_timeline', { kind: 'home' }],
};
const PLATFORMS = Object.keys(READS);

let database: TestDatabase;
let vendors: Everything;
let service: Instance;
let ada: Customer;
let token: string;

beforeAll(async () => {
  [database, vendors] = await Promise.all([createToolhubDatabase(), startEverything()]);
  service = await startInstance(database.url, { env: vendors.environment });
  ada = await newCustomer(service.url);
  ({ token } = await makeToken(service.url, ada));
  const api = apiOf(service.url, ada.token);
  for (const platform of PLATFORMS) {
    const { status } = await api('PUT', `/api/credentials/${platform}`, vendors.credentials[platform]);
    expect([platform, status]).toEqual([platform, 200]);
  }
});
afterAll(async () => {
  await service?.stop();
  await vendors?.stop();
  await database?.drop();
});

async function outcomeOf(platform: string): Promise<unknown> {
  const [tool, args] = READS[platform] as (typeof READS)[string];
  const { body } = await callTool(service.url, token, tool, args);
  const { result } = body;
  if (result === undefined) return body;
  return (result.structuredContent as { error?: unknown }).error ?? 'ok';
}

test('[TH-6.6] every platform works, and once its credential is withdrawn says token_expired with the way to a new one', async () => {
  expect(await Promise.all(PLATFORMS.map(outcomeOf))).toEqual(PLATFORMS.map(() => 'ok'));
  vendors.revoke();
  for (const platform of PLATFORMS)
    for (let repeat = 0; repeat < 2; repeat += 1)
      expect(await outcomeOf(platform), platform).toMatchObject({
        ...{ code: 'token_expired', connect_url: `${service.url}/connections/${platform}` },
      });
  const told = await database.database.query<{ platform: string }>(
    `select data ->> 'platform' as platform from events where customer_id = $1 and type = 'credential.expired'`,
    [ada.id],
  );
  expect(told.rows.map(({ platform }) => platform).sort()).toEqual(PLATFORMS.toSorted());
}, 60_000);
