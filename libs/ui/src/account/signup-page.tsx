import { Anchor } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiFormView } from '../form/api-form.tsx';
import { type ApiForm, useApiForm } from '../form/use-api-form.ts';
import { NarrowPage } from '../shell/narrow-page.tsx';
import type { Account } from './account.ts';
import { EmailField, NameField, NewPasswordField } from './fields.tsx';
import { texts } from './texts.ts';

const words = texts.signup;

interface SignupValues {
  name: string;
  email: string;
  password: string;
}

/** A product may ask for more than name, address and password; what it asks stands after the name. */
export function SignupPage<Person, More extends object = object>(props: {
  account: Account;
  lead: string;
  submitLabel?: string;
  enter: (person: Person) => Promise<void>;
  more?: { initialValues: More; fields: (form: ApiForm<SignupValues & More>['form']) => ReactNode };
}) {
  const { account, more } = props;
  const search = useSearch({ strict: false }) as { next?: string };
  const api = useApiForm<SignupValues & More>({
    initialValues: { name: '', email: '', password: '', ...(more?.initialValues as More) },
    fieldOfCode: { email_taken: 'email' },
    send: async (values) => {
      await props.enter(await account.client.post<Person>(`${account.paths.auth}/signup`, values));
    },
  });
  const input = (name: keyof SignupValues) => api.form.getInputProps(name as never);
  return (
    <NarrowPage
      brand={account.brand}
      title={words.title}
      lead={props.lead}
      below={
        <>
          {words.known}{' '}
          <Anchor component={Link} to="/login" search={search as never}>
            {words.logIn}
          </Anchor>
        </>
      }
    >
      <ApiFormView api={api} submitLabel={props.submitLabel ?? words.submit} fullWidth>
        <NameField input={input('name')} />
        {more?.fields(api.form)}
        <EmailField input={input('email')} />
        <NewPasswordField input={input('password')} />
      </ApiFormView>
    </NarrowPage>
  );
}
