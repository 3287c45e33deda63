import { ApiFormView, Panel, useApiForm } from '@libs/ui';
import { Alert, PasswordInput } from '@mantine/core';
import { client } from '../api/client.ts';
import { ME_PATH, useMe } from '../session/me.ts';
import { texts } from '../texts.ts';

const words = texts.settings;

export function DeletePanel() {
  const isVerified = useMe().data?.customer.email_verified ?? true;
  const api = useApiForm({
    initialValues: { password: '' },
    fieldOfCode: { wrong_password: 'password' },
    send: async (body) => {
      await client.delete(ME_PATH, { body });
      window.location.assign('/?deleted=true');
    },
  });
  return (
    <Panel title={words.delete}>
      <ApiFormView api={api} submitLabel={words.deleteNow} danger>
        <Alert color="red" role="note">
          {isVerified ? words.deleteHint : words.deleteHintUnverified}
        </Alert>
        <PasswordInput
          label={texts.fields.password}
          description={words.deletePassword}
          autoComplete="current-password"
          {...api.form.getInputProps('password')}
        />
      </ApiFormView>
    </Panel>
  );
}
