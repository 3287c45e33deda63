import { ApiFormView, Panel, toast, useApiForm } from '@libs/ui';
import { PasswordInput, TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import { type Customer, ME_PATH } from '../session/me.ts';
import { texts } from '../texts.ts';

const words = texts.settings;

export function ProfilePanel({ customer }: { customer: Customer }) {
  const api = useApiForm({
    initialValues: { name: customer.name },
    send: async (values) => {
      await client.patch(ME_PATH, values);
      await refresh(ME_PATH);
      toast.done(words.saved);
    },
  });
  return (
    <Panel title={words.profile}>
      <ApiFormView api={api} submitLabel={words.save}>
        <TextInput label={texts.fields.name} autoComplete="name" {...api.form.getInputProps('name')} />
        <TextInput label={texts.fields.email} value={customer.email} readOnly />
      </ApiFormView>
    </Panel>
  );
}

export function PasswordPanel() {
  const api = useApiForm({
    initialValues: { current: '', new: '' },
    send: async (values) => {
      await client.post('/api/auth/password', values);
      api.form.reset();
      await refresh('/api/sessions');
      toast.done(words.passwordChanged);
    },
  });
  return (
    <Panel title={words.password} lead={words.passwordLead}>
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
