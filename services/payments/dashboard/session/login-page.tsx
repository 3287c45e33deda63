import { ActionButton, ApiFormView, Icon, isApiError, NarrowPage, useApiForm } from '@libs/ui';
import { Anchor, Divider, Group, PasswordInput, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import type { Session } from '../api/types.ts';
import { texts } from '../texts.ts';
import { useEnter } from './after-login.ts';
import { Brand } from './brand.tsx';

const words = texts.login;

export function LoginPage() {
  const enter = useEnter();
  const api = useApiForm({
    initialValues: { email: '', password: '' },
    send: async (values) => enter(await logIn(values)),
  });
  return (
    <NarrowPage
      brand={<Brand />}
      title={words.title}
      below={
        <>
          {words.newHere}{' '}
          <Anchor component={Link} to="/signup">
            {words.signUp}
          </Anchor>
        </>
      }
    >
      <ApiFormView api={api} submitLabel={words.submit} fullWidth>
        <TextInput
          label={texts.fields.email}
          type="email"
          autoComplete="username"
          required
          {...api.form.getInputProps('email')}
        />
        <PasswordInput
          label={texts.fields.password}
          autoComplete="current-password"
          required
          {...api.form.getInputProps('password')}
        />
        <Group justify="flex-end">
          <Anchor component={Link} to="/forgot" size="sm">
            {words.forgot}
          </Anchor>
        </Group>
      </ApiFormView>
      <Divider label={words.or} />
      <ActionButton
        size="sm"
        leftSection={<Icon name="fingerprint" />}
        onAct={async () => {
          const { logInByPasskey } = await import('./passkey.ts');
          await enter(await logInByPasskey());
        }}
      >
        {words.passkey}
      </ActionButton>
    </NarrowPage>
  );
}

/** Where the person demands a passkey beside the password, the refusal carries what the device is asked. */
async function logIn(values: { email: string; password: string }): Promise<Session> {
  try {
    return await client.post<Session>('/v1/session/login', values);
  } catch (error) {
    if (!isApiError(error, 'passkey_required')) throw error;
    const { logInByPasskey } = await import('./passkey.ts');
    return logInByPasskey(error.body.options);
  }
}
