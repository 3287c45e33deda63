import { ApiFormView, useApiForm } from '@libs/ui';
import { Checkbox, SimpleGrid, TextInput } from '@mantine/core';
import { EVENT_TYPES } from '../../src/events/event.ts';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';
import { eventWords } from './event-name.tsx';
import { CONFIG_PATH, type Webhook } from './webhook.ts';

const words = texts.webhooks;

export function WebhookForm(props: { config: Webhook | null; onSecret: (secret: string) => void }) {
  const api = useApiForm({
    initialValues: {
      webhook_url: props.config?.webhook_url ?? '',
      events: props.config?.events ?? ([...EVENT_TYPES] as string[]),
    },
    send: async ({ webhook_url: address, events }) => {
      const body = {
        webhook_url: address.trim(),
        ...(events.length === EVENT_TYPES.length ? {} : { events }),
      };
      const made = await client.post<{ webhook_secret: string }>(CONFIG_PATH, body);
      props.onSecret(made.webhook_secret);
      await refresh('/api/webhooks');
    },
  });
  return (
    <ApiFormView api={api} submitLabel={props.config === null ? words.setUp : words.replace}>
      <TextInput
        label={words.address}
        placeholder="https://example.com/hooks"
        required
        {...api.form.getInputProps('webhook_url')}
      />
      <Checkbox.Group label={words.events} {...api.form.getInputProps('events')}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} mt="xs" spacing="xs">
          {EVENT_TYPES.map((type) => (
            <Checkbox key={type} value={type} label={eventWords(type)} description={type} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
    </ApiFormView>
  );
}
