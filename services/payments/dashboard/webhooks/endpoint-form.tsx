import { ApiFormView, useApiForm } from '@libs/ui';
import { MultiSelect, TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import type { WebhookEndpoint, WebhookEndpointWithSecret } from '../api/types.ts';
import { texts } from '../texts.ts';
import { eventChoices } from './event-types.ts';

const words = texts.webhooks;

const LIST_PATH = '/v1/webhook_endpoints';

interface EndpointValues {
  url: string;
  /** None stands for all. */
  events: string[];
  description: string;
}

/** Of what is changed, where not all of it is given. */
const bodyOf = ({ url, events, description }: Partial<EndpointValues>) => ({
  ...(url !== undefined && { url: url.trim() }),
  ...(events !== undefined && { events: events.length === 0 ? ['*'] : events }),
  ...(description !== undefined && { description: description.trim() === '' ? null : description.trim() }),
});

export function NewEndpointForm({ onDone }: { onDone: (endpoint: WebhookEndpointWithSecret) => void }) {
  return (
    <EndpointForm
      initial={{ url: '', events: [], description: '' }}
      submitLabel={words.add}
      send={async (values, idempotencyKey) => {
        const body = bodyOf(values);
        onDone(await client.post<WebhookEndpointWithSecret>(LIST_PATH, body, { idempotencyKey }));
      }}
    />
  );
}

/** The secret and what waits to be delivered stay as they are. */
export function EditEndpointForm({ endpoint, onDone }: { endpoint: WebhookEndpoint; onDone: () => void }) {
  const { id, url, events, description } = endpoint;
  return (
    <EndpointForm
      initial={{ url, events: events.filter((type) => type !== '*'), description: description ?? '' }}
      submitLabel={words.save}
      isStored
      send={async (_values, _idempotencyKey, changed) => {
        await client.patch(`${LIST_PATH}/${id}`, bodyOf(changed));
        onDone();
      }}
    />
  );
}

function EndpointForm(props: {
  initial: EndpointValues;
  submitLabel: string;
  isStored?: boolean;
  send: (values: EndpointValues, idempotencyKey: string, changed: Partial<EndpointValues>) => Promise<void>;
}) {
  const api = useApiForm({
    initialValues: props.initial,
    isStored: props.isStored ?? false,
    fieldOfCode: { webhook_url_refused: 'url' },
    send: async (...sent) => {
      await props.send(...sent);
      await refresh(LIST_PATH);
    },
  });
  const { form } = api;
  return (
    <ApiFormView api={api} submitLabel={props.submitLabel}>
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
      <TextInput
        label={words.description}
        description={texts.newPayment.optional}
        {...form.getInputProps('description')}
      />
    </ApiFormView>
  );
}
