import {
  ActionButton,
  ConfirmButton,
  CopyText,
  Facts,
  Page,
  Panel,
  QueryView,
  SecretOnce,
  toast,
  When,
} from '@libs/ui';
import { Alert, Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { client, refresh, useObject } from '../api/client.ts';
import type { WebhookEndpoint, WebhookEndpointWithSecret } from '../api/types.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { DeliveriesPanel } from './deliveries-panel.tsx';
import { EditEndpointForm } from './endpoint-form.tsx';
import { EndpointStatus, eventsOf } from './endpoint-status.tsx';

const words = texts.webhooks;
const LIST_PATH = '/v1/webhook_endpoints';

export function WebhookPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useObject<WebhookEndpoint>(`${LIST_PATH}/${encodeURIComponent(id)}`);
  const rights = useRights();
  return (
    <Page
      title={query.data?.url ?? words.title}
      actions={query.data !== undefined && rights.write ? <EndpointActions endpoint={query.data} /> : null}
    >
      <QueryView query={query}>
        {(endpoint) => (
          <>
            {endpoint.disabled_reason === null ? null : (
              <Alert color="orange">{words.reasons[endpoint.disabled_reason]}</Alert>
            )}
            <Panel title={words.facts}>
              <Facts
                facts={[
                  [words.id, <CopyText key="id" text={endpoint.id} label={words.id} />],
                  [words.url, <CopyText key="url" text={endpoint.url} label={words.url} />],
                  [words.status, <EndpointStatus key="status" endpoint={endpoint} />],
                  [words.events, eventsOf(endpoint)],
                  [words.description, endpoint.description],
                  [texts.methods.created, <When key="created" at={endpoint.created_at} withZone />],
                ]}
              />
            </Panel>
            <DeliveriesPanel endpointId={endpoint.id} isEnabled={endpoint.status === 'enabled'} />
          </>
        )}
      </QueryView>
    </Page>
  );
}

function EndpointActions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const [isEdited, { open, close }] = useDisclosure(false);
  const path = `${LIST_PATH}/${endpoint.id}`;
  const isOn = endpoint.status === 'enabled';
  return (
    <>
      {isOn ? (
        <ActionButton
          size="sm"
          variant="filled"
          onAct={async (idempotencyKey) => {
            await client.post(`${path}/test`, {}, { idempotencyKey });
            await refresh(`${path}/deliveries`);
            toast.done(words.tested);
          }}
        >
          {words.test}
        </ActionButton>
      ) : null}
      <Button size="sm" variant="default" onClick={open}>
        {words.edit}
      </Button>
      <ConfirmButton
        size="sm"
        label={words.rotate}
        question={words.rotateQuestion}
        explanation={words.rotateHint}
        onConfirm={async (idempotencyKey) => {
          const rotated = await client.post<WebhookEndpointWithSecret>(
            `${path}/rotate_secret`,
            {},
            { idempotencyKey },
          );
          setSecret(rotated.secret);
        }}
      />
      <ActionButton
        size="sm"
        variant={isOn ? 'default' : 'filled'}
        onAct={async () => {
          await client.patch(path, { status: isOn ? 'disabled' : 'enabled' });
          await refresh(LIST_PATH);
        }}
      >
        {isOn ? words.disable : words.enable}
      </ActionButton>
      <ConfirmButton
        size="sm"
        danger
        label={words.remove}
        question={words.removeQuestion}
        explanation={words.removeHint}
        onConfirm={async () => {
          await client.delete(path);
          await navigate({ to: '/webhooks' });
          await refresh(LIST_PATH);
        }}
      />
      <Modal opened={isEdited} onClose={close} title={words.editTitle}>
        <EditEndpointForm
          endpoint={endpoint}
          onDone={() => {
            close();
            toast.done(words.edited);
          }}
        />
      </Modal>
      <SecretOnce title={words.secret} secret={secret} onClose={() => setSecret(undefined)}>
        {words.rotatedHint}
      </SecretOnce>
    </>
  );
}
