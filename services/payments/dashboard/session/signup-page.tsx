import { ApiFormView, NarrowPage, useApiForm } from '@libs/ui';
import { Anchor, PasswordInput, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import type { Session } from '../api/types.ts';
import { texts } from '../texts.ts';
import { useEnter } from './after-login.ts';
import { Brand } from './brand.tsx';

const words = texts.signup;

export function SignupPage() {
  const enter = useEnter();
  const api = useApiForm({
    initialValues: { name: '', organisation: '', email: '', password: '' },
    send: async (values) => enter(await client.post<Session>('/v1/session/signup', values)),
  });
  return (
    <NarrowPage
      brand={<Brand />}
      title={words.title}
      lead={words.lead}
      below={
        <>
          {words.known}{' '}
          <Anchor component={Link} to="/login">
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
          label={texts.fields.organisation}
          autoComplete="organization"
          required
          {...api.form.getInputProps('organisation')}
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
