import { ApiFormView, NarrowPage, useApiForm } from '@libs/ui';
import { Alert, Anchor, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api/client.ts';
import { texts } from '../texts.ts';
import { Brand } from './brand.tsx';

const words = texts.forgot;

export function ForgotPage() {
  const [sent, setSent] = useState(false);
  const api = useApiForm({
    initialValues: { email: '' },
    send: async (values) => {
      await client.post('/api/auth/forgot', values);
      setSent(true);
    },
  });
  return (
    <NarrowPage
      brand={<Brand />}
      title={words.title}
      lead={words.lead}
      below={
        <Anchor component={Link} to="/login">
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
          <TextInput
            label={texts.fields.email}
            type="email"
            autoComplete="username"
            required
            {...api.form.getInputProps('email')}
          />
        </ApiFormView>
      )}
    </NarrowPage>
  );
}
