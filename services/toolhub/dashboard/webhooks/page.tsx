import {
  ActionButton,
  ConfirmButton,
  Facts,
  Page,
  Panel,
  QueryView,
  SecretOnce,
  toast,
  When,
} from '@libs/ui';
import { Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { EVENT_TYPES } from '../../src/events/event.ts';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';
import { DeadLettersPanel } from './dead-letters-panel.tsx';
import { DeliveriesPanel } from './deliveries-panel.tsx';
import { CONFIG_PATH, DELIVERIES_PATH, useWebhook, type Webhook } from './webhook.ts';
import { WebhookForm } from './webhook-form.tsx';

const words = texts.webhooks;

export function WebhooksPage() {
  const webhook = useWebhook();
  const [secret, setSecret] = useState<string>();
  return (
    <Page title={words.title} lead={words.lead}>
      <QueryView query={webhook}>
        {(config) => (
          <Stack gap="lg">
            {config === null ? null : <ConfigPanel config={config} />}
            <Panel
              title={config === null ? words.setUp : words.replace}
              lead={config === null ? words.setUpLead : words.replaceLead}
            >
              <WebhookForm key={config?.created_at ?? ''} config={config} onSecret={setSecret} />
            </Panel>
            {config === null ? null : <DeliveriesPanel />}
            <DeadLettersPanel />
          </Stack>
        )}
      </QueryView>
      <SecretOnce title={words.secret} secret={secret} onClose={() => setSecret(undefined)}>
        {words.secretHint}
      </SecretOnce>
    </Page>
  );
}

function ConfigPanel({ config }: { config: Webhook }) {
  return (
    <Panel
      title={words.current}
      actions={
        <Group gap="xs">
          <ActionButton
            lostWords={words.testLost}
            onAct={async () => {
              await client.post('/api/webhooks/test');
              await refresh(DELIVERIES_PATH, CONFIG_PATH);
              toast.done(words.testSent);
            }}
          >
            {words.test}
          </ActionButton>
          <ConfirmButton
            danger
            label={words.remove}
            question={words.removeQuestion}
            onConfirm={async () => {
              await client.delete(CONFIG_PATH);
              await refresh('/api/webhooks');
            }}
          />
        </Group>
      }
    >
      <Facts
        facts={[
          [
            words.address,
            <span key="url" className="ui-id">
              {config.webhook_url}
            </span>,
          ],
          [
            words.events,
            config.events.length === EVENT_TYPES.length ? words.allEvents : config.events.join(', '),
          ],
          [words.since, <When key="at" at={config.created_at} />],
          [words.secret, words.secretHidden],
        ]}
      />
    </Panel>
  );
}
