import { type Column, Empty, Icon, ListPanel, Page, SecretOnce, useSearchState, When } from '@libs/ui';
import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useList } from '../api/client.ts';
import type { WebhookEndpoint } from '../api/types.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { NewEndpointForm } from './endpoint-form.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { EndpointStatus, eventsOf } from './endpoint-status.tsx';

const words = texts.webhooks;

const columns: readonly Column<WebhookEndpoint>[] = [
  {
    header: words.url,
    render: ({ id, url }) => (
      <Link to="/webhooks/$id" params={{ id } as never} data-row className="ui-id">
        {url}
      </Link>
    ),
  },
  { header: words.status, render: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
  { header: words.health, render: ({ id }) => <EndpointHealth endpointId={id} /> },
  { header: words.events, render: eventsOf },
  { header: words.description, written: true, render: ({ description }) => description ?? '' },
  { header: texts.methods.created, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
];

export function WebhooksPage() {
  const search = useSearchState();
  const rights = useRights();
  const [opened, { open, close }] = useDisclosure(false);
  const [secret, setSecret] = useState<string>();
  const query = useList<WebhookEndpoint>('/v1/webhook_endpoints', search.values);
  const add = rights.write ? (
    <Button onClick={open} leftSection={<Icon name="plus" />}>
      {words.add}
    </Button>
  ) : null;
  return (
    <Page title={words.title} actions={add}>
      <ListPanel
        label={words.title}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="webhook" title={words.none} next={words.noneNext} action={add} />}
      />
      <Modal opened={opened} onClose={close} title={words.add}>
        <NewEndpointForm
          onDone={(endpoint) => {
            close();
            setSecret(endpoint.secret);
          }}
        />
      </Modal>
      <SecretOnce title={words.secret} secret={secret} onClose={() => setSecret(undefined)}>
        {words.secretHint}
      </SecretOnce>
    </Page>
  );
}
