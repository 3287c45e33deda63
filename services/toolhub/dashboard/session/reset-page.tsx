import { ApiFormView, NarrowPage, toast, useApiForm } from '@libs/ui';
import { Anchor, PasswordInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import { texts } from '../texts.ts';
import { Brand } from './brand.tsx';

const words = texts.reset;

export function ResetPage() {
  const { token = '' } = useSearch({ strict: false }) as { token?: string };
  const navigate = useNavigate();
  const api = useApiForm({
    initialValues: { password: '' },
    send: async ({ password }) => {
      await client.post('/api/auth/reset', { token, password });
      toast.done(words.done);
      await navigate({ to: '/login' });
    },
  });
  return (
    <NarrowPage
      brand={<Brand />}
      title={words.title}
      below={
        <Anchor component={Link} to="/forgot">
          {words.again}
        </Anchor>
      }
    >
      <ApiFormView api={api} submitLabel={words.submit} fullWidth>
        <PasswordInput
          label={texts.fields.password}
          description={texts.signup.passwordHint}
          autoComplete="new-password"
          required
          {...api.form.getInputProps('password')}
        />
      </ApiFormView>
    </NarrowPage>
  );
}
