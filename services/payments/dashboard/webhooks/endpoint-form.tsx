import { ApiFormView, useApiForm } from '@libs/ui';
import { MultiSelect, TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import type { WebhookEndpointWithSecret } from '../api/types.ts';
import { texts } from '../texts.ts';
import { eventChoices } from './event-types.ts';

const words = texts.webhooks;

export function EndpointForm({ onDone }: { onDone: (endpoint: WebhookEndpointWithSecret) => void }) {
  const api = useApiForm({
    initialValues: { url: '', events: [] as string[], description: '' },
    fieldOfCode: { webhook_url_refused: 'url' },
    send: async ({ url, events, description }, idempotencyKey) => {
      const body = {
        url: url.trim(),
        ...(events.length === 0 ? {} : { events }),
        ...(description === '' ? {} : { description }),
      };
      const path = '/v1/webhook_endpoints';
      const endpoint = await client.post<WebhookEndpointWithSecret>(path, body, { idempotencyKey });
      await refresh(path);
      onDone(endpoint);
    },
  });
  const { form } = api;
  return (
    <ApiFormView api={api} submitLabel={words.add}>
      <TextInput
        label={words.url}
        type="url"
        placeholder="https://example.com/hooks"
        required
        data-autofocus
        {...form.getInputProps('url')}
      />
      <MultiSelect
        label={words.events}
        placeholder={form.values.events.length === 0 ? words.allEvents : ''}
        data={eventChoices}
        searchable
        clearable
        {...form.getInputProps('events')}
      />
      <TextInput label={words.description} {...form.getInputProps('description')} />
    </ApiFormView>
  );
}
