import {
  ApiFormView,
  type Column,
  ConfirmButton,
  CopyText,
  Empty,
  ListPanel,
  toast,
  useApiForm,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Button, Group, Modal, Text, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { client, refresh, useList } from '../api/client.ts';
import { whileFirst } from '../api/polling.ts';
import type { LiveAccess } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.operator;
const PATH = '/v1/admin/organisations';

interface Organisation {
  id: string;
  name: string;
  live_access?: LiveAccess;
  live_access_request?: string | null;
  created_at: string;
}

async function decide(id: string, decision: { approved: boolean; reason?: string }): Promise<void> {
  await client.post(`${PATH}/${id}/live_access`, decision);
  await refresh(PATH, '/v1/session');
  toast.done(decision.approved ? words.approved : words.refused);
}

/** Live access has been asked for, at some time. */
function canBeDecided({ live_access: live = 'none' }: Organisation): boolean {
  return live !== 'none';
}

const columns: readonly Column<Organisation>[] = [
  {
    header: words.name,
    written: true,
    render: ({ id, name }) => (
      <div>
        <strong>{name}</strong>
        <div className="ui-beside ui-whole-id">
          <CopyText text={id} label={words.organisationId} />
        </div>
      </div>
    ),
  },
  {
    header: words.live,
    render: ({ live_access: live = 'none' }) => (
      <Badge color={live === 'requested' ? 'orange' : live === 'approved' ? 'brand' : 'gray'}>
        {texts.settings.liveNames[live]}
      </Badge>
    ),
  },
  {
    header: words.request,
    wide: true,
    has: ({ live_access_request: request }) => Boolean(request),
    render: ({ live_access_request: request }) => request,
  },
  { header: words.created, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
  {
    header: texts.common.actions,
    has: canBeDecided,
    render: (organisation) => <Decision organisation={organisation} />,
  },
];

function Decision({
  organisation: { id, name, live_access: live = 'none' },
}: {
  organisation: Organisation;
}) {
  return (
    <Group gap="xs" wrap="nowrap">
      {live === 'requested' || live === 'refused' ? (
        <ConfirmButton
          label={words.approve}
          question={words.approveQuestion(name)}
          onConfirm={() => decide(id, { approved: true })}
        />
      ) : null}
      {live === 'requested' || live === 'approved' ? <RefuseButton id={id} name={name} /> : null}
    </Group>
  );
}

/** With the words that the organisation reads. */
function RefuseButton({ id, name }: { id: string; name: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {words.refuse}
      </Button>
      <Modal opened={opened} onClose={close} title={words.refuseQuestion(name)}>
        <RefuseForm id={id} onDone={close} />
      </Modal>
    </>
  );
}

function RefuseForm({ id, onDone }: { id: string; onDone: () => void }) {
  const api = useApiForm({
    initialValues: { reason: '' },
    send: async (values) => {
      const reason = values.reason.trim();
      await decide(id, { approved: false, ...(reason === '' ? {} : { reason }) });
      onDone();
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.refuse}>
      <Text size="sm">{words.refuseConsequence}</Text>
      <Textarea
        label={words.reason}
        description={words.refuseReasonHint}
        autosize
        minRows={2}
        data-autofocus
        {...api.form.getInputProps('reason')}
      />
    </ApiFormView>
  );
}

export function OrganisationsTab() {
  const { cursor } = useSearchState().values;
  const query = useList<Organisation>(PATH, { cursor }, whileFirst({ cursor }));
  return (
    <ListPanel
      label={words.organisations}
      query={query}
      columns={columns}
      keyOf={({ id }) => id}
      empty={<Empty icon="people" title={words.noOrganisations} />}
    />
  );
}
