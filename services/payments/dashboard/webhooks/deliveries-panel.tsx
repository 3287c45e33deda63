import {
  ActionButton,
  breakable,
  CodeBlock,
  Coded,
  type Column,
  capitalised,
  DataTable,
  Empty,
  JsonBlock,
  ListView,
  Loading,
  oneByOne,
  Panel,
  toast,
  useSearchState,
  When,
  wordsOfCode,
} from '@libs/ui';
import { Anchor, Badge, Group, Modal, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import { client, refresh, useList, useObject } from '../api/client.ts';
import type { WebhookDelivery } from '../api/types.ts';
import type { PaymentsEvent } from '../events/event.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { asTheyCome, deliveryColors } from './delivery.ts';

const words = texts.webhooks;
type Attempt = WebhookDelivery['attempts'][number];

const answerOf = (attempt: Attempt | undefined) =>
  attempt === undefined ? '–' : String(attempt.status ?? capitalised(attempt.error ?? words.noAnswer));

/** Beside a next try there is no room for two moments in one line. */
const inTwoLines = (at: string | null) => (
  <span className="ui-two-lines">
    <When at={at} />
  </span>
);

/** Nobody tries these again but a person. */
const hasStranded: ReadonlySet<WebhookDelivery['status']> = new Set(['failed', 'abandoned']);

/** What was sent to an endpoint, what came back, and when it is tried again. */
export function DeliveriesPanel({ endpointId, isEnabled }: { endpointId: string; isEnabled: boolean }) {
  const search = useSearchState();
  const rights = useRights();
  const [opened, setOpened] = useState<WebhookDelivery>();
  const path = `/v1/webhook_endpoints/${endpointId}/deliveries`;
  const query = useList<WebhookDelivery>(path, search.values, asTheyCome);
  // What is shown of it follows the list; one that leaves the page of the list stays as it was seen last.
  const newer = query.data?.data.find(({ id }) => id === opened?.id);
  if (newer !== undefined && newer !== opened) setOpened(newer);
  const retry = async (id: string, idempotencyKey: string) => {
    await client.post(`/v1/webhook_deliveries/${id}/retry`, {}, { idempotencyKey });
    await refresh(path);
    toast.done(words.retried);
  };
  const stranded = (query.data?.data ?? []).filter(({ status }) => hasStranded.has(status));
  const retryAll = async () => {
    const outcome = await oneByOne(stranded, ({ id }) => client.post(`/v1/webhook_deliveries/${id}/retry`));
    await refresh(path);
    toast.outcome(outcome, words.retriedAll);
  };
  const columns: Column<WebhookDelivery>[] = [
    {
      header: words.delivery,
      render: (delivery) => (
        <div>
          <Anchor component="button" type="button" size="sm" ta="left" onClick={() => setOpened(delivery)}>
            {wordsOfCode(delivery.event_type)}
          </Anchor>
          <div className="ui-id ui-beside">{breakable(delivery.event_type)}</div>
        </div>
      ),
    },
    {
      header: words.status,
      render: ({ status }) => <Badge color={deliveryColors[status]}>{words.deliveryStatuses[status]}</Badge>,
    },
    { header: words.attempts, align: 'right', render: ({ attempts }) => attempts.length },
    {
      header: words.last,
      has: ({ attempts }) => attempts.length > 0,
      render: ({ attempts }) => answerOf(attempts.at(-1)),
    },
    {
      header: words.next,
      align: 'right',
      has: ({ next_attempt_at: at }) => at !== null,
      render: ({ next_attempt_at: at }) => inTwoLines(at),
    },
    { header: texts.methods.created, align: 'right', render: ({ created_at: at }) => inTwoLines(at) },
    {
      header: texts.common.actions,
      // To one that is switched off nothing is sent.
      has: () => rights.write && isEnabled,
      // What has arrived is seldom sent again, so that it does not catch the eye.
      render: ({ id, status }) => (
        <ActionButton onAct={(key) => retry(id, key)} variant={status === 'delivered' ? 'subtle' : 'default'}>
          {status === 'delivered' ? words.sendAgain : words.retry}
        </ActionButton>
      ),
    },
  ];
  return (
    <Panel
      title={words.deliveries}
      flush
      actions={
        <Group gap="xs">
          {rights.write && isEnabled && stranded.length > 1 ? (
            <ActionButton onAct={retryAll}>{words.retryAll(stranded.length)}</ActionButton>
          ) : null}
          <ActionButton onAct={() => refresh(path)}>{texts.common.refresh}</ActionButton>
        </Group>
      }
    >
      <ListView
        label={words.deliveries}
        columns={columns}
        query={query}
        keyOf={({ id }) => id}
        empty={<Empty icon="webhook" title={words.noDeliveries} next={words.noDeliveriesNext} />}
      />
      <Modal
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={opened && <Coded code={opened.event_type} />}
        size="xl"
      >
        {opened === undefined ? null : <DeliveryView delivery={opened} />}
      </Modal>
    </Panel>
  );
}

/** The signature is made for each try, of the secret that only the endpoint has. */
const headersOf = ({ event_id: id }: WebhookDelivery) =>
  [
    `webhook-id: ${id}`,
    'webhook-timestamp: …',
    'webhook-signature: v1,…',
    'content-type: application/json',
  ].join('\n');

const attemptColumns: readonly Column<Attempt>[] = [
  { header: texts.logs.at, render: ({ at }) => <When at={at} withZone /> },
  { header: texts.logs.response, render: answerOf },
  {
    header: texts.payment.detail,
    has: ({ error }) => error !== null,
    render: ({ error }) => capitalised(error ?? ''),
  },
  { header: texts.logs.duration, align: 'right', render: ({ duration_ms: ms }) => `${ms} ms` },
];

function DeliveryView({ delivery }: { delivery: WebhookDelivery }) {
  const event = useObject<PaymentsEvent & { mode: string }>(`/v1/events/${delivery.event_id}`);
  const { data } = event;
  const answered = delivery.attempts.findLast(({ response }) => response);
  return (
    <Stack>
      <Title order={3}>{words.response}</Title>
      <DataTable
        label={words.response}
        columns={attemptColumns}
        rows={delivery.attempts}
        keyOf={({ at }) => at}
      />
      {answered?.response === undefined ? null : (
        <>
          <Title order={3}>{words.answered}</Title>
          <CodeBlock label={words.answered} text={answered.response} />
        </>
      )}
      <Title order={3}>{words.request}</Title>
      <CodeBlock label={words.headers} text={headersOf(delivery)} wrap />
      {data === undefined ? (
        <Loading />
      ) : (
        <JsonBlock
          label={words.request}
          value={{
            id: data.id,
            type: data.type,
            timestamp: data.timestamp,
            mode: data.mode,
            data: data.data,
          }}
        />
      )}
    </Stack>
  );
}
