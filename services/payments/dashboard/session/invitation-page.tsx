import { ActionButton, ApiFormView, drafts, isApiError, NarrowPage, QueryView, useApiForm } from '@libs/ui';
import { NameField, NewPasswordField } from '@libs/ui/account';
import { Anchor, Button, Text, TextInput } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { client, useObject } from '../api/client.ts';
import type { Role, Session } from '../api/types.ts';
import { texts } from '../texts.ts';
import { useEnter } from './after-login.ts';
import { Brand } from './brand.tsx';
import { leaveSession, useSession } from './session.ts';

const words = texts.invitation;

interface Invitation {
  organisation: { name: string };
  email: string;
  role: Role;
}

/** As the server compares them. */
const isSameAddress = (one: string, other: string) => addressKey(one) === addressKey(other);
const addressKey = (email: string) => email.trim().normalize('NFC').toLowerCase();

export function InvitationPage() {
  const { token = '' } = useSearch({ strict: false }) as { token?: string };
  const invitation = useObject<Invitation>(`/v1/session/invitations/${encodeURIComponent(token)}`, {
    enabled: token !== '',
  });
  const session = useSession();
  if (token === '' || isApiError(invitation.error, 'link_not_valid')) return <DeadLink />;
  return (
    <NarrowPage brand={<Brand />} title={words.title}>
      <QueryView query={invitation}>
        {(invited) => (
          <>
            <Text size="sm">{words.lead(invited.organisation.name, texts.roles[invited.role])}</Text>
            {session.data === undefined ? (
              <JoinAsNew token={token} email={invited.email} />
            ) : isSameAddress(session.data.user.email, invited.email) ? (
              <JoinAsKnown token={token} email={session.data.user.email} />
            ) : (
              <GoOnAs invited={invited.email} here={session.data.user.email} />
            )}
          </>
        )}
      </QueryView>
    </NarrowPage>
  );
}

function DeadLink() {
  return (
    <NarrowPage brand={<Brand />} title={words.dead} lead={words.deadLead}>
      <Button component={Link} to="/" variant="default">
        {words.deadNext}
      </Button>
    </NarrowPage>
  );
}

function JoinAsKnown({ token, email }: { token: string; email: string }) {
  const enter = useEnter();
  return (
    <ActionButton
      size="sm"
      variant="filled"
      onAct={async () => enter(await client.post<Session>('/v1/session/invitations/accept', { token }))}
    >
      {words.join(email)}
    </ActionButton>
  );
}

/** An invitation is accepted by whom it was sent to alone. */
function GoOnAs({ invited, here }: { invited: string; here: string }) {
  return (
    <>
      <Text size="sm">{words.another(invited, here)}</Text>
      <ActionButton
        size="sm"
        variant="filled"
        onAct={async () => {
          await client.post('/v1/session/logout');
          drafts.forget();
          await leaveSession();
        }}
      >
        {words.goOnAs(invited)}
      </ActionButton>
    </>
  );
}

function JoinAsNew({ token, email }: { token: string; email: string }) {
  const enter = useEnter();
  const api = useApiForm({
    initialValues: { name: '', password: '' },
    send: async (values) => {
      const body = { ...values, email, invitation: token };
      await enter(await client.post<Session>('/v1/session/signup', body));
    },
  });
  const here = `/dashboard/invitation?token=${encodeURIComponent(token)}`;
  return (
    <>
      <ApiFormView api={api} submitLabel={words.signUp} fullWidth>
        <TextInput label={texts.fields.email} value={email} readOnly />
        <NameField input={api.form.getInputProps('name')} />
        <NewPasswordField input={api.form.getInputProps('password')} />
      </ApiFormView>
      <Text size="sm" ta="center">
        {texts.signup.known}{' '}
        <Anchor component={Link} to="/login" search={{ next: here } as never}>
          {texts.signup.logIn}
        </Anchor>
      </Text>
    </>
  );
}
