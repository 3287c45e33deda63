import { Alert, Anchor } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiFormView } from '../form/api-form.tsx';
import { useApiForm } from '../form/use-api-form.ts';
import { NarrowPage } from '../shell/narrow-page.tsx';
import type { Account } from './account.ts';
import { EmailField } from './fields.tsx';
import { meant } from './meant.ts';
import { texts } from './texts.ts';

const words = texts.forgot;

export function ForgotPage({ account }: { account: Account }) {
  const search = useSearch({ strict: false }) as { next?: string };
  const [sent, setSent] = useState(false);
  const api = useApiForm({
    initialValues: { email: '' },
    send: async (values) => {
      await account.client.post(`${account.paths.auth}/forgot`, values);
      meant.keep(search.next);
      setSent(true);
    },
  });
  return (
    <NarrowPage
      brand={account.brand}
      title={words.title}
      lead={words.lead}
      below={
        <Anchor component={Link} to="/login" search={search as never}>
          {words.back}
        </Anchor>
      }
    >
      {sent ? (
        <Alert color="brand" role="status">
          {words.sent}
        </Alert>
      ) : (
        <ApiFormView api={api} submitLabel={words.submit} fullWidth>
          <EmailField input={api.form.getInputProps('email')} />
        </ApiFormView>
      )}
    </NarrowPage>
  );
}
