import {
  ActionButton,
  type Column,
  EmptyNote,
  JsonBlock,
  oneByOne,
  PagedTable,
  Panel,
  toast,
  usePlace,
  When,
} from '@libs/ui';
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { client, refresh, useList } from '../api/client.ts';
import { texts } from '../texts.ts';
import { Attempts } from './attempts.tsx';
import { EventName } from './event-name.tsx';
import { DEAD_LETTERS_PATH, type DeadLetter } from './webhook.ts';

const words = texts.webhooks;
const REFETCH_MS = 3_000;
/** As many such calls as the service takes from a customer at once. */
const REPLAYS_MAX = 10;

function columnsWith(show: (letter: DeadLetter) => void): Column<DeadLetter>[] {
  return [
    { header: words.event, render: ({ event_type: type }) => <EventName type={type} /> },
    { header: words.failedAt, align: 'right', render: ({ failed_at: at }) => <When at={at} /> },
    { header: words.goesAt, align: 'right', render: ({ expires_at: at }) => <When at={at} /> },
    {
      header: texts.common.actions,
      align: 'right',
      render: (letter) => (
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <Button size="xs" variant="default" onClick={() => show(letter)}>
            {words.show}
          </Button>
          <ActionButton
            onAct={async () => {
              await client.post(`${DEAD_LETTERS_PATH}/${letter.id}/replay`);
              await refresh('/api/webhooks');
              toast.done(words.replayed);
            }}
          >
            {words.replay}
          </ActionButton>
        </Group>
      ),
    },
  ];
}

export function DeadLettersPanel() {
  // Deliveries are given up while somebody looks.
  const place = usePlace();
  const query = useList<DeadLetter>(
    DEAD_LETTERS_PATH,
    { cursor: place.cursor },
    { refetchMs: () => REFETCH_MS },
  );
  const [shown, setShown] = useState<DeadLetter>();
  const letters = (query.data?.data ?? []).slice(0, REPLAYS_MAX);
  const replayAll = async () => {
    const outcome = await oneByOne(letters, ({ id }) => client.post(`${DEAD_LETTERS_PATH}/${id}/replay`));
    await refresh('/api/webhooks');
    toast.outcome(outcome, words.replayedAll);
  };
  return (
    <Panel
      title={words.deadLetters}
      lead={words.deadLettersLead}
      flush
      actions={
        letters.length > 1 ? (
          <ActionButton onAct={replayAll}>{words.replayAll(letters.length)}</ActionButton>
        ) : null
      }
    >
      <PagedTable
        place={place}
        label={words.deadLetters}
        query={query}
        columns={columnsWith(setShown)}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{words.noDeadLetters}</EmptyNote>}
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={shown === undefined ? undefined : <EventName type={shown.event_type} />}
        size="lg"
      >
        {shown === undefined ? null : (
          <Stack>
            <Text size="sm" className="ui-id">
              {shown.webhook_url}
            </Text>
            <Attempts attempts={shown.attempts} withZone />
            <JsonBlock value={shown.payload} label={words.payload} />
          </Stack>
        )}
      </Modal>
    </Panel>
  );
}
