import { Anchor } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ApiFormView } from '../form/api-form.tsx';
import { useApiForm } from '../form/use-api-form.ts';
import { NarrowPage } from '../shell/narrow-page.tsx';
import { toast } from '../show/toast.ts';
import type { Account } from './account.ts';
import { NewPasswordField } from './fields.tsx';
import { meant } from './meant.ts';
import { texts } from './texts.ts';

const words = texts.reset;

export function ResetPage({ account }: { account: Account }) {
  const { token = '', next = meant.kept() } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const api = useApiForm({
    initialValues: { password: '' },
    send: async ({ password }) => {
      await account.client.post(`${account.paths.auth}/reset`, { token, password });
      toast.done(words.done);
      meant.forget();
      await navigate({ to: '/login', search: { next } as never });
    },
  });
  return (
    <NarrowPage
      brand={account.brand}
      title={words.title}
      below={
        <Anchor component={Link} to="/forgot" search={{ next } as never}>
          {words.again}
        </Anchor>
      }
    >
      <ApiFormView api={api} submitLabel={words.submit} fullWidth>
        <NewPasswordField input={api.form.getInputProps('password')} />
      </ApiFormView>
    </NarrowPage>
  );
}
