import { ApiFormView, NarrowPage, useApiForm } from '@libs/ui';
import { Anchor, Group, PasswordInput, TextInput } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import { texts } from '../texts.ts';
import { useEnter } from './after-login.ts';
import { Brand } from './brand.tsx';
import type { Me } from './me.ts';

const words = texts.login;

export function LoginPage() {
  const enter = useEnter();
  const search = useSearch({ strict: false }) as { next?: string };
  const api = useApiForm({
    initialValues: { email: '', password: '' },
    send: async (values) => enter(await client.post<Me>('/api/auth/login', values)),
  });
  return (
    <NarrowPage
      brand={<Brand />}
      title={words.title}
      below={
        <>
          {words.newHere}{' '}
          <Anchor component={Link} to="/signup" search={search as never}>
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
    </NarrowPage>
  );
}
