import { ApiFormView, Panel, toast, useApiForm } from '@libs/ui';
import { PasswordInput, TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import type { User } from '../api/types.ts';
import { SESSION_PATH } from '../session/session.ts';
import { texts } from '../texts.ts';

const words = texts.settings;

export function ProfilePanel({ user }: { user: User }) {
  const api = useApiForm({
    initialValues: { name: user.name },
    send: async (values) => {
      await client.patch(SESSION_PATH, values);
      await refresh(SESSION_PATH);
      toast.done(words.saved);
    },
  });
  return (
    <Panel title={words.profile}>
      <ApiFormView api={api} submitLabel={words.save}>
        <TextInput label={texts.fields.name} autoComplete="name" {...api.form.getInputProps('name')} />
        <TextInput label={texts.fields.email} value={user.email} readOnly />
      </ApiFormView>
    </Panel>
  );
}

export function PasswordPanel() {
  const api = useApiForm({
    initialValues: { current: '', new: '' },
    send: async (values) => {
      await client.post(`${SESSION_PATH}/password`, values);
      api.form.reset();
      toast.done(words.changed);
    },
  });
  return (
    <Panel title={words.password}>
      <ApiFormView api={api} submitLabel={words.change}>
        <PasswordInput
          label={words.current}
          autoComplete="current-password"
          {...api.form.getInputProps('current')}
        />
        <PasswordInput
          label={words.next}
          description={texts.signup.passwordHint}
          autoComplete="new-password"
          {...api.form.getInputProps('new')}
        />
      </ApiFormView>
    </Panel>
  );
}
