import { Icon, Panel } from '@libs/ui';
import { Button, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import { texts } from '../texts.ts';
import { useWebhook } from '../webhooks/webhook.ts';
import { untilCalled, useUsage } from './usage.ts';

const words = texts.checklist;

type Step = 'account' | 'assistant' | 'call' | 'webhook';
const places: Record<Step, string> = {
  account: '/connections',
  assistant: '/assistants',
  call: '/tools',
  webhook: '/webhooks',
};

/** The first steps, until all that are needed are done. */
export function Checklist() {
  const credentials = useList<unknown>('/api/credentials', { limit: 1 });
  const clients = useList<unknown>('/api/clients', { limit: 1 });
  const tokens = useList<unknown>('/api/tokens', { limit: 1 });
  const usage = useUsage('365', 'platform', untilCalled);
  const webhook = useWebhook();
  if ([credentials, clients, tokens, usage].some(({ data }) => data === undefined)) return null;
  const has = (list: typeof clients) => (list.data?.data.length ?? 0) > 0;
  const done: Record<Step, boolean> = {
    account: has(credentials),
    assistant: has(clients) || has(tokens),
    call: (usage.data?.total ?? 0) > 0,
    webhook: webhook.data !== undefined && webhook.data !== null,
  };
  if (done.account && done.assistant && done.call) return null;
  const steps = Object.keys(done) as Step[];
  const next = steps.find((step) => !done[step]);
  return (
    <Panel title={words.title} lead={words.lead}>
      <Stack component="ol" gap="sm" m={0} p={0}>
        {steps.map((step) => (
          <Group key={step} component="li" wrap="nowrap" align="flex-start">
            <ThemeIcon radius="xl" variant={done[step] ? 'filled' : 'default'} aria-hidden>
              {done[step] ? <Icon name="check" size={15} /> : steps.indexOf(step) + 1}
            </ThemeIcon>
            <Stack gap={4} flex={1} align="flex-start">
              <Text fw={600}>
                {words[step].title}
                {done[step] ? ` (${words.done})` : ''}
              </Text>
              <Text size="sm" c="dimmed">
                {words[step].text}
              </Text>
              {step === next ? (
                <Button component={Link} to={places[step]} size="xs">
                  {words[step].action}
                </Button>
              ) : null}
            </Stack>
          </Group>
        ))}
      </Stack>
    </Panel>
  );
}
