import { ApiFormView, NarrowPage, useApiForm } from '@libs/ui';
import { Anchor, PasswordInput, TextInput } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import { texts } from '../texts.ts';
import { useEnter } from './after-login.ts';
import { Brand } from './brand.tsx';
import type { Me } from './me.ts';

const words = texts.signup;

export function SignupPage() {
  const enter = useEnter();
  const search = useSearch({ strict: false }) as { next?: string };
  const api = useApiForm({
    initialValues: { name: '', email: '', password: '' },
    send: async (values) => enter(await client.post<Me>('/api/auth/signup', values)),
  });
  return (
    <NarrowPage
      brand={<Brand />}
      title={words.title}
      lead={words.lead}
      below={
        <>
          {words.known}{' '}
          <Anchor component={Link} to="/login" search={search as never}>
            {words.logIn}
          </Anchor>
        </>
      }
    >
      <ApiFormView api={api} submitLabel={words.submit} fullWidth>
        <TextInput
          label={texts.fields.name}
          autoComplete="name"
          required
          {...api.form.getInputProps('name')}
        />
        <TextInput
          label={texts.fields.email}
          type="email"
          autoComplete="username"
          required
          {...api.form.getInputProps('email')}
        />
        <PasswordInput
          label={texts.fields.password}
          description={words.passwordHint}
          autoComplete="new-password"
          required
          {...api.form.getInputProps('password')}
        />
      </ApiFormView>
    </NarrowPage>
  );
}
