import { PasswordInput, TextInput } from '@mantine/core';
import { texts } from './texts.ts';

/** What `getInputProps` of a form gives. */
type InputProps = object;

export function EmailField({ input }: { input: InputProps }) {
  return <TextInput label={texts.fields.email} type="email" autoComplete="username" required {...input} />;
}

export function NameField({ input }: { input: InputProps }) {
  return <TextInput label={texts.fields.name} autoComplete="name" required {...input} />;
}

/** Of who is logged in already: what follows needs more than the session. */
export function OwnPasswordField({ input }: { input: InputProps }) {
  return (
    <PasswordInput label={texts.fields.ownPassword} autoComplete="current-password" required {...input} />
  );
}

export function NewPasswordField({ input, label }: { input: InputProps; label?: string }) {
  return (
    <PasswordInput
      label={label ?? texts.fields.password}
      description={texts.passwordHint}
      autoComplete="new-password"
      required
      {...input}
    />
  );
}
