import {
  ActionButton,
  type Column,
  Empty,
  JsonBlock,
  PagedTable,
  Panel,
  toast,
  usePlace,
  When,
} from '@libs/ui';
import { Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { texts } from '../texts.ts';
import { Attempts } from '../webhooks/attempts.tsx';
import { EventName } from '../webhooks/event-name.tsx';
import type { DeadLetter } from '../webhooks/webhook.ts';
import { operator, refresh, useList } from './operator.ts';

const words = texts.admin;
const PATH = '/api/admin/webhooks/dlq';

interface Sufferer {
  customer_id: string;
  customer: { name: string; email: string } | null;
  count: number;
  newest_at: string;
}

/** Whose webhooks do not answer, and what they missed. */
export function DeadLettersTab() {
  const place = usePlace();
  const query = useList<Sufferer>(PATH, { cursor: place.cursor });
  const [shown, setShown] = useState<string>();
  const columns: readonly Column<Sufferer>[] = [
    {
      header: words.customer,
      written: true,
      render: ({ customer_id: id, customer }) => (
        <div>
          <Anchor component="button" type="button" fw={600} ta="left" onClick={() => setShown(id)}>
            {customer?.email ?? id}
          </Anchor>
          <Text size="sm" c="dimmed">
            {customer?.name}
          </Text>
        </div>
      ),
    },
    { header: words.deadCount, align: 'right', render: ({ count }) => count },
    { header: words.newestDead, align: 'right', render: ({ newest_at: at }) => <When at={at} /> },
  ];
  return (
    <Panel title={words.tabs.deadLetters} lead={words.deadLettersLead} flush>
      <PagedTable
        place={place}
        label={words.tabs.deadLetters}
        query={query}
        columns={columns}
        keyOf={({ customer_id: id }) => id}
        empty={<Empty icon="check" title={words.noDeadLetters} next={words.noDeadLettersNext} />}
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={texts.webhooks.deadLetters}
        size="xl"
      >
        {shown === undefined ? null : <Letters customerId={shown} />}
      </Modal>
    </Panel>
  );
}

function Letters({ customerId }: { customerId: string }) {
  const place = usePlace();
  const query = useList<DeadLetter>(`${PATH}/${customerId}`, { cursor: place.cursor });
  const [opened, setOpened] = useState<DeadLetter>();
  const columns: readonly Column<DeadLetter>[] = [
    {
      header: texts.webhooks.event,
      render: ({ event_type: type, webhook_url: url }) => (
        <div>
          <EventName type={type} />
          <Text size="xs" c="dimmed" fw={400} className="ui-id">
            {url}
          </Text>
        </div>
      ),
    },
    {
      header: texts.webhooks.failedAt,
      align: 'right',
      render: ({ failed_at: at, expires_at: goes }) => (
        <div>
          <When at={at} withZone />
          <Text size="xs" c="dimmed">
            {texts.webhooks.goesAt} <When at={goes} dayOnly />
          </Text>
        </div>
      ),
    },
    {
      header: texts.common.actions,
      align: 'right',
      render: (letter) => (
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <Button size="xs" variant="default" onClick={() => setOpened(letter)}>
            {texts.webhooks.show}
          </Button>
          <ActionButton
            onAct={async () => {
              await operator.post(`${PATH}/${customerId}/${letter.id}/replay`);
              await refresh(PATH);
              toast.done(texts.webhooks.replayed);
            }}
          >
            {texts.webhooks.replay}
          </ActionButton>
        </Group>
      ),
    },
  ];
  return (
    <Stack>
      <PagedTable
        place={place}
        label={texts.webhooks.deadLetters}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="check" title={words.noDeadLetters} />}
      />
      {opened === undefined ? null : <Letter key={opened.id} letter={opened} />}
    </Stack>
  );
}

/** Below the list that it was chosen in, however long that is: whoever opened it is led there. */
function Letter({ letter }: { letter: DeadLetter }) {
  const region = useRef<HTMLElement>(null);
  useEffect(() => region.current?.focus(), []);
  return (
    <section ref={region} tabIndex={-1} aria-label={texts.webhooks.payload}>
      <Stack>
        <EventName type={letter.event_type} />
        <Attempts attempts={letter.attempts} withZone />
        <JsonBlock value={letter.payload} label={texts.webhooks.payload} />
      </Stack>
    </section>
  );
}
