import { PasswordInput, TextInput } from '@mantine/core';
import { ApiFormView } from '../form/api-form.tsx';
import { useApiForm } from '../form/use-api-form.ts';
import { Panel } from '../show/panel.tsx';
import { toast } from '../show/toast.ts';
import type { Account } from './account.ts';
import { NewPasswordField } from './fields.tsx';
import { texts } from './texts.ts';

export function ProfilePanel({
  account,
  person,
}: {
  account: Account;
  person: { name: string; email: string };
}) {
  const { person: path } = account.paths;
  const api = useApiForm({
    initialValues: { name: person.name },
    isStored: true,
    send: async (values) => {
      await account.client.patch(path, values);
      await account.api.refresh(path);
      toast.done(texts.profile.saved);
    },
  });
  return (
    <Panel title={texts.profile.title}>
      <ApiFormView api={api} submitLabel={texts.profile.save}>
        <TextInput label={texts.fields.name} autoComplete="name" {...api.form.getInputProps('name')} />
        <TextInput label={texts.fields.email} value={person.email} readOnly variant="filled" />
      </ApiFormView>
    </Panel>
  );
}

export function PasswordPanel({ account }: { account: Account }) {
  const api = useApiForm({
    initialValues: { current: '', new: '' },
    fieldOfCode: { wrong_password: 'current' },
    send: async (values) => {
      await account.client.post(`${account.paths.auth}/password`, values);
      api.form.reset();
      await account.api.refresh(`${account.paths.own}/sessions`);
      toast.done(texts.password.changed);
    },
  });
  return (
    <Panel title={texts.password.title} lead={texts.password.lead}>
      <ApiFormView api={api} submitLabel={texts.password.change}>
        <PasswordInput
          label={texts.password.current}
          autoComplete="current-password"
          required
          {...api.form.getInputProps('current')}
        />
        <NewPasswordField label={texts.password.next} input={api.form.getInputProps('new')} />
      </ApiFormView>
    </Panel>
  );
}
