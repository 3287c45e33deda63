import {
  ApiFormView,
  ChoiceFilter,
  CodeBlock,
  type Column,
  capitalised,
  Empty,
  FilterBar,
  ListPanel,
  QueryView,
  toast,
  useApiForm,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { client, refresh, useList, useObject } from '../api/client.ts';
import { whileFirst } from '../api/polling.ts';
import type { Mode, Rail } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.operator;
const PATH = '/v1/admin/quarantine';

interface Quarantined {
  id: string;
  rail: Rail;
  mode: Mode | null;
  reason: string;
  received_at: string;
  status: 'open' | 'applied' | 'dismissed';
  resolution: string | null;
  content?: string;
}

/** What the networks sent that fitted nothing: looked at, applied to its payment, or dismissed with a reason. */
export function QuarantineTab() {
  const { cursor, status, mode } = useSearchState().values;
  const query = useList<Quarantined>(PATH, { cursor, status, mode }, whileFirst({ cursor }));
  const [opened, setOpened] = useState<string>();
  const columns: Column<Quarantined>[] = [
    { header: words.reason, render: ({ reason }) => capitalised(reason) },
    { header: words.rail, render: ({ rail }) => texts.rails[rail] },
    { header: texts.mode.label, render: ({ mode: of }) => (of === null ? '' : texts.mode[of]) },
    {
      header: words.status,
      render: ({ status: state }) => (
        <Badge color={state === 'open' ? 'orange' : 'gray'}>{words.states[state]}</Badge>
      ),
    },
    {
      header: words.resolution,
      wide: true,
      has: ({ resolution }) => resolution !== null,
      render: ({ resolution }) => resolution ?? '',
    },
    { header: words.received, align: 'right', render: ({ received_at: at }) => <When at={at} /> },
    {
      header: texts.common.actions,
      render: ({ id }) => (
        <Button size="xs" variant="default" onClick={() => setOpened(id)}>
          {words.open}
        </Button>
      ),
    },
  ];
  return (
    <Stack>
      <FilterBar>
        <ChoiceFilter
          name="status"
          label={words.status}
          choices={(['open', 'applied', 'dismissed'] as const).map((value) => ({
            value,
            label: words.states[value],
          }))}
        />
        <ChoiceFilter
          name="mode"
          label={texts.mode.label}
          choices={(['live', 'test'] as const).map((value) => ({ value, label: texts.mode[value] }))}
        />
      </FilterBar>
      <ListPanel
        label={words.quarantine}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="shield" title={words.noQuarantine} next={words.noQuarantineNext} />}
      />
      <Modal
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={words.quarantine}
        // As wide as a record of 94 characters.
        size="56rem"
      >
        {opened === undefined ? null : <QuarantinedView id={opened} onDone={() => setOpened(undefined)} />}
      </Modal>
    </Stack>
  );
}

function QuarantinedView({ id, onDone }: { id: string; onDone: () => void }) {
  const query = useObject<Quarantined>(`${PATH}/${id}`);
  const done = async (message: string) => {
    await refresh(PATH);
    toast.done(message);
    onDone();
  };
  const applying = useApiForm({
    initialValues: { payment_id: '' },
    fieldOfCode: { payment_not_found: 'payment_id', quarantine_not_applicable: 'payment_id' },
    send: async (values, idempotencyKey) => {
      await client.post(`${PATH}/${id}/apply`, values, { idempotencyKey });
      await done(words.applied);
    },
  });
  const dismissing = useApiForm({
    initialValues: { reason: '' },
    send: async (values, idempotencyKey) => {
      await client.post(`${PATH}/${id}/dismiss`, values, { idempotencyKey });
      await done(words.dismissed);
    },
  });
  return (
    <QueryView query={query}>
      {(item) => (
        <Stack>
          <Text size="sm">{capitalised(item.reason)}</Text>
          <CodeBlock label={words.content} text={item.content ?? ''} />
          {item.status === 'open' ? (
            <>
              <ApiFormView api={applying} submitLabel={words.apply}>
                <TextInput
                  label={words.applyPayment}
                  placeholder="pay_…"
                  {...applying.form.getInputProps('payment_id')}
                />
              </ApiFormView>
              <ApiFormView api={dismissing} submitLabel={words.dismiss}>
                <TextInput label={words.whyDismissed} {...dismissing.form.getInputProps('reason')} />
              </ApiFormView>
            </>
          ) : null}
        </Stack>
      )}
    </QueryView>
  );
}
