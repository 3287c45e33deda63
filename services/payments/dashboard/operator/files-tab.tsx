import {
  Amount,
  ApiFormView,
  type Column,
  capitalised,
  Empty,
  ListView,
  toast,
  useApiForm,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Button, Checkbox, Modal, Paper, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { client, refresh, useList } from '../api/client.ts';
import { whileFirst } from '../api/polling.ts';
import type { Mode } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.operator;
const PATH = '/v1/admin/ach_files';

interface AchFile {
  id: string;
  name: string;
  mode: Mode;
  status: 'waiting' | 'sent' | 'rejected';
  entries: number;
  debit_total: number;
  credit_total: number;
  left_at: string;
  rejection: string | null;
}

export function FilesTab() {
  const { cursor } = useSearchState().values;
  const query = useList<AchFile>(PATH, { cursor }, whileFirst({ cursor }));
  const [refused, setRefused] = useState<AchFile>();
  const columns: Column<AchFile>[] = [
    {
      header: words.file,
      render: ({ name, mode }) => (
        <div>
          <span className="ui-id ui-number">{name}</span>
          <Text size="xs" c="dimmed">
            {texts.mode[mode]}
          </Text>
        </div>
      ),
    },
    {
      header: words.status,
      render: ({ status }) => (
        <Badge color={status === 'rejected' ? 'red' : 'gray'}>{words.fileStates[status]}</Badge>
      ),
    },
    { header: words.entries, align: 'right', render: ({ entries }) => entries.toLocaleString('en-US') },
    { header: words.debits, align: 'right', render: ({ debit_total: total }) => <Amount minor={total} /> },
    { header: words.credits, align: 'right', render: ({ credit_total: total }) => <Amount minor={total} /> },
    { header: words.left, align: 'right', render: ({ left_at: at }) => <When at={at} /> },
    {
      header: words.reason,
      wide: true,
      has: ({ rejection }) => rejection !== null,
      render: ({ rejection }) => capitalised(rejection ?? ''),
    },
    {
      header: texts.common.actions,
      // One that has not left cannot have been refused, and one that was refused is so already.
      has: ({ status }) => status === 'sent',
      render: (file) => (
        <Button size="xs" variant="default" onClick={() => setRefused(file)}>
          {words.reject}
        </Button>
      ),
    },
  ];
  return (
    <Paper p={0} className="ui-panel">
      <ListView
        label={words.files}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="list" title={words.noFiles} />}
      />
      <Modal opened={refused !== undefined} onClose={() => setRefused(undefined)} title={words.reject}>
        {refused === undefined ? null : <RejectForm id={refused.id} onDone={() => setRefused(undefined)} />}
      </Modal>
    </Paper>
  );
}

function RejectForm({ id, onDone }: { id: string; onDone: () => void }) {
  const api = useApiForm({
    initialValues: { reason: '', resend: true },
    send: async (values, idempotencyKey) => {
      await client.post(`${PATH}/${id}/reject`, values, { idempotencyKey });
      await refresh(PATH);
      toast.done(words.rejected);
      onDone();
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.reject}>
      <TextInput label={words.reason} data-autofocus {...api.form.getInputProps('reason')} />
      <Checkbox label={words.resend} {...api.form.getInputProps('resend', { type: 'checkbox' })} />
    </ApiFormView>
  );
}
