import { Panel, QueryView, When } from '@libs/ui';
import { Accordion, Badge, Group, Text } from '@mantine/core';
import { useList } from '../../api/client.ts';
import type { RailMessage } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { NachaView } from './nacha-view.tsx';
import { XmlView } from './xml-view.tsx';

const words = texts.payment;
const MESSAGES_MAX = 100;

/** Every file and message that concerned the payment, as the networks saw it. */
export function MessagesPanel({ paymentId }: { paymentId: string }) {
  const query = useList<RailMessage>(`/v1/payments/${paymentId}/messages`, { limit: MESSAGES_MAX });
  return (
    <Panel title={words.messages}>
      <QueryView query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {words.noMessages}
            </Text>
          ) : (
            <Accordion variant="separated" order={3} keepMounted={false}>
              {data.map((message) => (
                <MessageItem key={message.id} message={message} />
              ))}
            </Accordion>
          )
        }
      </QueryView>
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
            {texts.rails[rail]} {kind}
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
