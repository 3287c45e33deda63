import { Coded, PagedView, Panel, usePlace, When } from '@libs/ui';
import { Accordion, Badge, Group, Text } from '@mantine/core';
import { useList } from '../../api/client.ts';
import { POLL_MS } from '../../api/polling.ts';
import type { Payment, RailMessage } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { NachaView } from './nacha-view.tsx';
import { XmlView } from './xml-view.tsx';

const words = texts.payment;

/** Every file and message that concerned the payment, as the networks saw it. */
export function MessagesPanel({ payment: { id, status } }: { payment: Payment }) {
  const isUnderWay = status === 'pending' || status === 'processing';
  // A message that changes no status, such as a question for the outcome, is told by no event.
  const options = { refetchMs: () => (isUnderWay ? POLL_MS : (false as const)) };
  const place = usePlace();
  const query = useList<RailMessage>(`/v1/payments/${id}/messages`, { cursor: place.cursor }, options);
  return (
    <Panel title={words.messages}>
      <PagedView
        place={place}
        query={query}
        empty={
          <Text size="sm" c="dimmed">
            {words.noMessages}
          </Text>
        }
      >
        {(messages) => (
          <Accordion variant="separated" order={3} keepMounted={false}>
            {messages.map((message) => (
              <MessageItem key={message.id} message={message} />
            ))}
          </Accordion>
        )}
      </PagedView>
    </Panel>
  );
}

function MessageItem({ message }: { message: RailMessage }) {
  const { direction, kind, rail, content } = message;
  return (
    <Accordion.Item value={message.id}>
      <Accordion.Control>
        <Group gap="sm">
          <Badge color={direction === 'out' ? 'blue' : 'grape'}>
            {direction === 'out' ? words.sent : words.received}
          </Badge>
          <Text size="sm" fw={600}>
            {texts.rails[rail]} · <Coded code={kind} words={words.messageKinds[kind]} />
          </Text>
          <Text size="sm" c="dimmed" component="span">
            <When at={message.created_at} />
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        {content.trimStart().startsWith('<') ? (
          <XmlView content={content} label={kind} />
        ) : (
          <NachaView content={content} />
        )}
      </Accordion.Panel>
    </Accordion.Item>
  );
}
