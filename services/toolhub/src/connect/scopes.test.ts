import { expect, test } from 'vitest';
import { createConnectors } from '../connectors/index.ts';
import { scopesToAsk } from './scopes.ts';

const providers = createConnectors().flatMap(({ id, auth, tools }) =>
  (auth.providers ?? []).map((provider) => ({ id, provider, tools: tools.map(({ name }) => name) })),
);
const slack = providers.find(({ id }) => id === 'slack')?.provider;
if (slack === undefined) throw new Error('Slack has a login');

test('[TH-6.9] a login asks for what the switched-on tools need, each scope once', () => {
  const isOn = (tool: string) =>
    ['slack_send_message', 'slack_delete_message', 'slack_find_users'].includes(tool);
  expect(scopesToAsk(slack, isOn)).toEqual(['users:read', 'users:read.email', 'chat:write']);
});

test('[TH-6.9] with every tool off it asks for what all need: some vendors refuse a login without scopes', () => {
  expect(scopesToAsk(slack, () => false)).toEqual(scopesToAsk(slack, () => true));
});

test.each(providers)('$id by $provider.id: every tool adds only what it needs', ({ provider, tools }) => {
  const all = scopesToAsk(provider, () => true);
  expect(all.length).toBeGreaterThan(0);
  for (const tool of tools) {
    const asked = scopesToAsk(provider, (name) => name === tool);
    expect(all).toEqual(expect.arrayContaining(asked));
    expect(asked).toEqual(expect.arrayContaining([...provider.scopes]));
  }
});
