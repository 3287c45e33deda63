import { ApiFormView, Panel, toast, useApiForm } from '@libs/ui';
import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { client, refresh } from '../api/client.ts';
import { SESSION_PATH } from '../api/shown-session.ts';
import type { Session } from '../api/types.ts';
import { enterSession } from '../session/session.ts';
import { texts } from '../texts.ts';

const words = texts.settings;

export function OrganisationPanel({ name }: { name: string }) {
  const api = useApiForm({
    initialValues: { name },
    isStored: true,
    send: async (values) => {
      await client.patch('/v1/organisation', values);
      await refresh(SESSION_PATH, '/v1/organisation');
      toast.done(words.saved);
    },
  });
  return (
    <Panel title={words.organisation}>
      <ApiFormView api={api} submitLabel={words.save}>
        <TextInput label={texts.fields.organisation} {...api.form.getInputProps('name')} />
      </ApiFormView>
    </Panel>
  );
}

export function AnotherOrganisationPanel() {
  const navigate = useNavigate();
  const api = useApiForm({
    initialValues: { name: '' },
    send: async (values, idempotencyKey) => {
      const path = `${SESSION_PATH}/organisations`;
      const session = await client.post<Session>(path, values, { idempotencyKey });
      enterSession(session);
      await navigate({ to: '/' });
    },
  });
  return (
    <Panel title={words.another} lead={words.anotherLead}>
      <ApiFormView api={api} submitLabel={words.anotherSubmit} inline>
        <TextInput label={words.anotherName} {...api.form.getInputProps('name')} />
      </ApiFormView>
    </Panel>
  );
}
