import { Box, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { loadPart } from '../app/missing-parts.ts';
import { ApiFormView } from '../form/api-form.tsx';
import { useApiForm } from '../form/use-api-form.ts';
import { Panel } from '../show/panel.tsx';
import { toast } from '../show/toast.ts';
import { When } from '../show/when.tsx';
import type { Column } from '../table/columns-for.ts';
import { QueryTable } from '../table/query-table.tsx';
import type { Account } from './account.ts';
import { OwnPasswordField } from './fields.tsx';
import { PasswordButton, PasswordModal } from './password-question.tsx';
import { texts } from './texts.ts';

const words = texts.passkeys;

interface Passkey {
  id: string;
  name: string;
  created_at: string;
  last_used_at?: string | null;
}

/** Whether a password alone lets in; only for products that can ask for both. */
interface SecondFactor {
  passkeys: number;
  passkey_required: boolean;
}

function columnsOf(account: Account): readonly Column<Passkey>[] {
  const { person, own } = account.paths;
  return [
    { header: texts.fields.name, written: true, render: ({ name }) => <strong>{name}</strong> },
    { header: words.created, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
    { header: words.lastUsed, align: 'right', render: ({ last_used_at: at }) => <When at={at} /> },
    {
      header: texts.actions,
      render: ({ id }) => (
        <PasswordButton
          label={words.remove}
          question={words.removeQuestion}
          send={async (password) => {
            await account.client.delete(`${own}/passkeys/${id}`, { body: { password } });
            await account.api.refresh(person, `${own}/passkeys`);
          }}
        />
      ),
    },
  ];
}

export function PasskeysPanel({ account, secondFactor }: { account: Account; secondFactor?: SecondFactor }) {
  const { person, own } = account.paths;
  const query = account.api.useList<Passkey>(`${own}/passkeys`);
  const api = useApiForm({
    initialValues: { name: '', password: '' },
    fieldOfCode: { wrong_password: 'password' },
    send: async (values) => {
      const { addPasskey } = await loadPart(() => import('./passkey.ts'));
      await addPasskey(account, values);
      await account.api.refresh(person, `${own}/passkeys`);
      api.form.reset();
      toast.done(words.added);
    },
  });
  return (
    <Panel title={words.title} lead={words.lead} flush>
      <Stack>
        <QueryTable
          label={words.title}
          columns={columnsOf(account)}
          query={query}
          keyOf={({ id }) => id}
          empty={
            <Text size="sm" c="dimmed" px="lg">
              {words.none}
            </Text>
          }
        />
        <Group px="lg" pb="lg" justify="space-between" align="flex-end">
          {/* As wide as there is room, so that its button stands beside its fields. */}
          <Box flex="1 1 30rem" miw={0}>
            <ApiFormView api={api} submitLabel={words.add} inline>
              <TextInput label={words.name} {...api.form.getInputProps('name')} />
              <OwnPasswordField input={api.form.getInputProps('password')} />
            </ApiFormView>
          </Box>
          {secondFactor === undefined || secondFactor.passkeys === 0 ? null : (
            <SecondFactorSwitch account={account} required={secondFactor.passkey_required} />
          )}
        </Group>
      </Stack>
    </Panel>
  );
}

/** A password that somebody else learnt is then not enough. */
function SecondFactorSwitch({ account, required }: { account: Account; required: boolean }) {
  const [opened, { open, close }] = useDisclosure(false);
  // What was asked stays the question until its dialog is gone, though the answer has changed it.
  const [wanted, setWanted] = useState(!required);
  return (
    <>
      <Switch
        label={words.secondFactor}
        checked={required}
        onChange={() => {
          setWanted(!required);
          open();
        }}
      />
      <PasswordModal
        opened={opened}
        onClose={close}
        question={wanted ? words.demandQuestion : words.demandNoLongerQuestion}
        submitLabel={wanted ? words.demand : words.demandNoLonger}
        send={async (password) => {
          await account.client.patch(account.paths.person, { passkey_required: wanted, password });
          await account.api.refresh(account.paths.person);
          toast.done(texts.profile.saved);
        }}
      />
    </>
  );
}
