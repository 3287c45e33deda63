import {
  ApiFormView,
  type Column,
  ConfirmButton,
  Panel,
  QueryTable,
  toast,
  useApiForm,
  When,
} from '@libs/ui';
import { Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { client, refresh, useList } from '../api/client.ts';
import type { User } from '../api/types.ts';
import { addPasskey } from '../session/passkey.ts';
import { texts } from '../texts.ts';

const words = texts.settings;
const PASSKEYS_PATH = '/v1/session/passkeys';

interface Passkey {
  id: string;
  name: string;
  created_at: string;
  last_used_at?: string | null;
}

const columns: readonly Column<Passkey>[] = [
  { header: texts.fields.name, render: ({ name }) => <strong>{name}</strong> },
  { header: texts.methods.created, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
  { header: words.lastUsed, align: 'right', render: ({ last_used_at: at }) => <When at={at} /> },
  {
    header: texts.common.actions,
    render: ({ id }) => (
      <ConfirmButton
        danger
        label={words.removePasskey}
        question={words.removePasskeyQuestion}
        onConfirm={async () => {
          await client.delete(`${PASSKEYS_PATH}/${id}`);
          await refresh('/v1/session');
        }}
      />
    ),
  },
];

export function PasskeysPanel({ user }: { user: User }) {
  const query = useList<Passkey>(PASSKEYS_PATH);
  const api = useApiForm({
    initialValues: { name: '' },
    send: async ({ name }) => {
      await addPasskey(name);
      await refresh('/v1/session');
      api.form.reset();
      toast.done(words.passkeyAdded);
    },
  });
  return (
    <Panel title={words.passkeys} lead={words.passkeysLead} flush>
      <Stack>
        <QueryTable
          label={words.passkeys}
          columns={columns}
          query={query}
          keyOf={({ id }) => id}
          empty={
            <Text size="sm" c="dimmed" px="lg">
              {words.noPasskeys}
            </Text>
          }
        />
        <Group px="lg" pb="lg" justify="space-between" align="flex-end">
          <ApiFormView api={api} submitLabel={words.addPasskey} inline>
            <TextInput label={words.passkeyName} {...api.form.getInputProps('name')} />
          </ApiFormView>
          {user.passkeys > 0 ? <SecondFactorSwitch user={user} /> : null}
        </Group>
      </Stack>
    </Panel>
  );
}

/** A password that somebody else learnt is then not enough. */
function SecondFactorSwitch({ user }: { user: User }) {
  const change = async (required: boolean) => {
    try {
      await client.patch('/v1/session', { passkey_required: required });
      await refresh('/v1/session');
      toast.done(words.saved);
    } catch (error) {
      toast.problem(error);
    }
  };
  return (
    <Switch
      label={words.secondFactor}
      checked={user.passkey_required}
      onChange={(event) => void change(event.currentTarget.checked)}
    />
  );
}
