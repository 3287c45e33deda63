import {
  ActionButton,
  ApiFormView,
  type Column,
  ConfirmButton,
  EmptyNote,
  Icon,
  type ListPage,
  Page,
  PagedTable,
  Panel,
  QueryTable,
  toast,
  useApiForm,
  usePlace,
  When,
} from '@libs/ui';
import { Badge, Button, Modal, Radio, Select, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { client, refresh, useList } from '../api/client.ts';
import { POLL_MS } from '../api/polling.ts';
import { SESSION_PATH } from '../api/shown-session.ts';
import type { Role, Session } from '../api/types.ts';
import { enterSession, useRights, useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { ActivityPanel } from './activity-panel.tsx';

const words = texts.team;
const MEMBERS_PATH = '/v1/members';
const INVITATIONS_PATH = '/v1/invitations';
/** As many as the API gives at a time; invitations are never more. */
const PEOPLE_SHOWN = 100;

interface Member {
  id: string;
  name: string;
  email: string;
  role: Role;
  created_at: string;
}

interface Invitation {
  id: string;
  email: string;
  role: Role;
  expires_at: string;
}

const roleChoices = Object.entries(texts.roles).map(([value, label]) => ({ value, label }));

export function TeamPage() {
  const rights = useRights();
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Page
      title={words.title}
      {...(rights.manage ? {} : { lead: words.onlyOwners })}
      actions={
        rights.manage ? (
          <Button onClick={open} leftSection={<Icon name="plus" />}>
            {words.invite}
          </Button>
        ) : null
      }
    >
      <MembersPanel />
      {rights.manage ? <InvitationsPanel /> : null}
      {rights.manage ? <ActivityPanel /> : null}
      <Modal opened={opened} onClose={close} title={words.inviteTitle}>
        <InviteForm onDone={close} />
      </Modal>
    </Page>
  );
}

function MembersPanel() {
  const rights = useRights();
  const session = useSession();
  const place = usePlace();
  const { cursor } = place;
  const query = useList<Member>(MEMBERS_PATH, { limit: PEOPLE_SHOWN, cursor }, { refetchMs: () => POLL_MS });
  const own = session.data?.user.email;
  // Everybody may leave, but for the last who could let others in.
  const canGo = ({ email, role }: Member) =>
    email === own ? role !== 'owner' || !isLastOwner(query.data, place) : rights.manage;
  const columns: Column<Member>[] = [
    {
      header: words.name,
      written: true,
      render: ({ name, email }) => (
        <span>
          <strong>{name}</strong> {email === own ? <Badge color="gray">{words.you}</Badge> : null}
        </span>
      ),
    },
    { header: words.email, written: true, render: ({ email }) => email },
    { header: words.role, render: (member) => <RoleCell member={member} canChange={rights.manage} /> },
    { header: words.since, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
    {
      header: texts.common.actions,
      has: canGo,
      render: (member) =>
        member.email === own ? <LeaveButton member={member} /> : <RemoveButton member={member} />,
    },
  ];
  return (
    <Panel title={words.members} flush>
      <PagedTable
        place={place}
        label={words.members}
        columns={columns}
        query={query}
        keyOf={({ id }) => id}
      />
    </Panel>
  );
}

/** Somebody has to stay who can manage the others; of pages that are not shown nothing is known. */
function isLastOwner(
  page: ListPage<Member> | undefined,
  { cursor }: { cursor: string | undefined },
): boolean {
  return (
    cursor === undefined &&
    !page?.next_cursor &&
    page?.data.filter(({ role }) => role === 'owner').length === 1
  );
}

function LeaveButton({ member }: { member: Member }) {
  const navigate = useNavigate();
  return (
    <ConfirmButton
      danger
      label={words.leave}
      question={words.leaveQuestion}
      explanation={words.leaveHint}
      onConfirm={async () => {
        await client.delete(`${MEMBERS_PATH}/${member.id}`);
        enterSession(await client.get<Session>(SESSION_PATH));
        await navigate({ to: '/' });
      }}
    />
  );
}

function RoleCell({ member, canChange }: { member: Member; canChange: boolean }) {
  if (!canChange) return texts.roles[member.role];
  const change = async (role: string | null) => {
    try {
      await client.patch(`${MEMBERS_PATH}/${member.id}`, { role });
      await refresh(MEMBERS_PATH, '/v1/session');
      toast.done(words.changed);
    } catch (error) {
      toast.problem(error);
    }
  };
  return (
    <Select
      size="xs"
      w={130}
      aria-label={`${words.role}: ${member.email}`}
      data={roleChoices}
      value={member.role}
      onChange={(role) => void change(role)}
    />
  );
}

function RemoveButton({ member }: { member: Member }) {
  return (
    <ConfirmButton
      danger
      label={words.remove}
      question={words.removeQuestion}
      explanation={`${member.name} (${member.email}). ${words.removeHint}`}
      onConfirm={async () => {
        await client.delete(`${MEMBERS_PATH}/${member.id}`);
        await refresh(MEMBERS_PATH);
      }}
    />
  );
}

const invitationColumns: readonly Column<Invitation>[] = [
  { header: words.email, written: true, render: ({ email }) => email },
  { header: words.role, render: ({ role }) => texts.roles[role] },
  { header: words.expires, align: 'right', render: ({ expires_at: at }) => <When at={at} /> },
  {
    header: texts.common.actions,
    render: ({ id }) => (
      <ActionButton
        onAct={async () => {
          await client.delete(`${INVITATIONS_PATH}/${id}`);
          await refresh(INVITATIONS_PATH);
        }}
      >
        {words.revoke}
      </ActionButton>
    ),
  },
];

function InvitationsPanel() {
  const query = useList<Invitation>(INVITATIONS_PATH, { limit: PEOPLE_SHOWN }, { refetchMs: () => POLL_MS });
  return (
    <Panel title={words.invitations} flush>
      <QueryTable
        label={words.invitations}
        columns={invitationColumns}
        query={query}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{words.noInvitations}</EmptyNote>}
      />
    </Panel>
  );
}

function InviteForm({ onDone }: { onDone: () => void }) {
  const api = useApiForm({
    initialValues: { email: '', role: 'developer' },
    fieldOfCode: { already_member: 'email' },
    send: async (values, idempotencyKey) => {
      await client.post(INVITATIONS_PATH, values, { idempotencyKey });
      await refresh(INVITATIONS_PATH);
      toast.done(words.invited);
      onDone();
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.invite}>
      <TextInput
        label={texts.fields.email}
        type="email"
        required
        data-autofocus
        {...api.form.getInputProps('email')}
      />
      <Radio.Group label={words.role} {...api.form.getInputProps('role')}>
        <Stack gap="xs" mt="xs">
          {Object.entries(texts.roles).map(([role, label]) => (
            <Radio key={role} value={role} label={label} description={texts.roleHints[role as Role]} />
          ))}
        </Stack>
      </Radio.Group>
    </ApiFormView>
  );
}
