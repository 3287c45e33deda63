// What a program does with a client that was generated from the reference of Toolhub.
import createClient from 'openapi-fetch';
import type { components, paths } from './toolhub.d.ts';

type Tool = components['schemas']['Tool'];
declare const process: { env: Record<string, string> };

const client = createClient<paths>({
  baseUrl: process.env.TOOLHUB_URL ?? '',
  headers: { Authorization: `Bearer ${process.env.TOOLHUB_TOKEN}` },
});

function taken<Data>(answer: { data?: Data; error?: components['schemas']['Problem'] }): Data {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

function expect(isTrue: boolean, about: unknown): void {
  if (!isTrue) throw new Error(JSON.stringify(about));
}

const { customer } = taken(await client.GET('/api/me'));
expect(customer.plan === 'free', customer);

const plans = taken(await client.GET('/api/plans'));
expect(
  plans.data.some(({ id }) => id === 'starter'),
  plans,
);

const tools = taken(await client.GET('/api/tools', { params: { query: { limit: 2 } } }));
const first: Tool | undefined = tools.data.find(({ platform }) => platform !== null) ?? tools.data[0];
expect(tools.data.length === 2 && first !== undefined, tools);

const usage = taken(await client.GET('/api/usage', { params: { query: { group: 'day' } } }));
expect(usage.total === 0, usage);

const credentials = taken(await client.GET('/api/credentials'));
expect(credentials.data.length === 0, credentials);

const unchecked = { params: { query: { verify: false } } };
const connected = taken(
  await client.PUT('/api/credentials/slack', { ...unchecked, body: { access_token: 'xoxp-1' } }),
);
expect(connected.platform === 'slack', connected);

const missing = await client.GET('/api/webhooks/config');
expect(missing.error?.code === 'not_found', missing.error);

const plan = taken(await client.PUT('/api/plan', { body: { plan: 'starter', spend_cap_cents: 5000 } }));
expect(plan.spend_cap_cents === 5000, plan);

// @ts-expect-error a plan is named by its id
void (() => client.PUT('/api/plan', { body: { plan: 1 } }));
