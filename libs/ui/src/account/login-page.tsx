import { Anchor, Divider, Group, PasswordInput } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { isApiError } from '../api/problem.ts';
import { loadPart } from '../app/missing-parts.ts';
import { ApiFormView } from '../form/api-form.tsx';
import { useApiForm } from '../form/use-api-form.ts';
import { NarrowPage } from '../shell/narrow-page.tsx';
import { ActionButton } from '../show/action-button.tsx';
import { Icon } from '../theme/icons.tsx';
import type { Account } from './account.ts';
import { EmailField } from './fields.tsx';
import { meant } from './meant.ts';
import { texts } from './texts.ts';

const words = texts.login;

/** `enter` is given what the product answers to a log-in. */
export function LoginPage<Person>({
  account,
  enter,
}: {
  account: Account;
  enter: (person: Person) => Promise<void>;
}) {
  const search = useSearch({ strict: false }) as { next?: string };
  const goOn = (person: Person) => {
    // For somebody who remembered the password after all.
    meant.forget();
    return enter(person);
  };
  const api = useApiForm({
    initialValues: { email: '', password: '' },
    send: async (values) => goOn(await logIn<Person>(account, values)),
  });
  return (
    <NarrowPage
      brand={account.brand}
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
        <EmailField input={api.form.getInputProps('email')} />
        <PasswordInput
          label={texts.fields.password}
          autoComplete="current-password"
          required
          {...api.form.getInputProps('password')}
        />
        <Group justify="flex-end">
          <Anchor component={Link} to="/forgot" search={search as never} size="sm">
            {words.forgot}
          </Anchor>
        </Group>
      </ApiFormView>
      <Divider label={words.or} />
      <ActionButton
        size="sm"
        leftSection={<Icon name="fingerprint" />}
        onAct={async () => goOn(await byPasskey<Person>(account))}
      >
        {words.passkey}
      </ActionButton>
    </NarrowPage>
  );
}

/** Where the person demands a passkey beside the password, the refusal carries what the device is asked. */
async function logIn<Person>(account: Account, values: { email: string; password: string }): Promise<Person> {
  try {
    return await account.client.post<Person>(`${account.paths.auth}/login`, values);
  } catch (error) {
    if (!isApiError(error, 'passkey_required')) throw error;
    return byPasskey<Person>(account, error.body.options);
  }
}

async function byPasskey<Person>(account: Account, given?: unknown): Promise<Person> {
  const { logInByPasskey } = await loadPart(() => import('./passkey.ts'));
  return logInByPasskey<Person>(account, given);
}
