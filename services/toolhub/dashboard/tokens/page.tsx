import {
  ApiFormView,
  type Column,
  ConfirmButton,
  Empty,
  Icon,
  ListPanel,
  Page,
  SecretOnce,
  toast,
  useApiForm,
  useSearchState,
  When,
} from '@libs/ui';
import { Button, Checkbox, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { client, refresh, useList } from '../api/client.ts';
import { texts } from '../texts.ts';
import { scopeWords } from './scopes.tsx';

const words = texts.tokens;
const TOKENS_PATH = '/api/tokens';
const SCOPES = ['tools:read', 'tools:write', 'account:read', 'account:write'] as const;
const USUAL_SCOPES: string[] = ['tools:read', 'tools:write', 'account:read'];
const LIFETIMES = ['30', '90', '365', ''] as const;

interface Token {
  id: string;
  name: string;
  scopes: string[];
  expires_at: string | null;
  created_at: string;
  last_used_at: string | null;
}

const columns: readonly Column<Token>[] = [
  { header: words.name, written: true, render: ({ name }) => <strong>{name}</strong> },
  { header: words.scopes, render: ({ scopes }) => scopeWords(scopes) },
  { header: words.created, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
  { header: words.lastUsed, align: 'right', render: ({ last_used_at: at }) => <When at={at} /> },
  {
    header: words.expires,
    align: 'right',
    render: ({ expires_at: at }) => (at === null ? words.whenRevoked : <When at={at} dayOnly />),
  },
  {
    header: texts.common.actions,
    align: 'right',
    render: ({ id, name }) => (
      <ConfirmButton
        danger
        label={words.revoke}
        question={words.revokeQuestion(name)}
        explanation={words.revokeHint}
        onConfirm={async () => {
          await client.delete(`${TOKENS_PATH}/${id}`);
          await refresh(TOKENS_PATH);
          toast.done(words.revoked);
        }}
      />
    ),
  },
];

export function TokensPage() {
  const { values } = useSearchState();
  const query = useList<Token>(TOKENS_PATH, { cursor: values.cursor });
  const [making, setMaking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const make = (
    <Button onClick={() => setMaking(true)} leftSection={<Icon name="plus" />}>
      {words.make}
    </Button>
  );
  return (
    <Page title={words.title} lead={words.lead} actions={make}>
      <ListPanel
        label={words.title}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="key" title={words.none} next={words.noneNext} action={make} />}
      />
      <Modal opened={making} onClose={() => setMaking(false)} title={words.make}>
        <TokenForm
          onDone={(token) => {
            setMaking(false);
            setSecret(token);
          }}
        />
      </Modal>
      <SecretOnce title={words.secret} secret={secret} onClose={() => setSecret(undefined)}>
        {words.secretHint}
      </SecretOnce>
    </Page>
  );
}

function TokenForm({ onDone }: { onDone: (token: string) => void }) {
  const api = useApiForm({
    initialValues: { name: '', scopes: USUAL_SCOPES, lifetime: '90' },
    fieldNames: { expires_in_days: 'lifetime' },
    lostWords: words.lost,
    send: async ({ name, scopes, lifetime }) => {
      const body = { name, scopes, ...(lifetime === '' ? {} : { expires_in_days: Number(lifetime) }) };
      try {
        const made = await client.post<{ token: string }>(TOKENS_PATH, body);
        onDone(made.token);
      } finally {
        // Also where no answer came: a token that was made all the same is to be seen.
        void refresh(TOKENS_PATH);
      }
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.make}>
      <TextInput label={texts.fields.name} data-autofocus required {...api.form.getInputProps('name')} />
      <Checkbox.Group label={words.scopes} {...api.form.getInputProps('scopes')}>
        <Stack gap="xs" mt="xs">
          {SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={texts.scopes[scope]} description={scope} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Select
        label={words.lifetime}
        data={LIFETIMES.map((value) => ({ value, label: words.lifetimes[value] }))}
        allowDeselect={false}
        {...api.form.getInputProps('lifetime')}
      />
    </ApiFormView>
  );
}
