import { ApiFormView, useApiForm } from '@libs/ui';
import { Checkbox, Fieldset, NumberInput, PasswordInput, SimpleGrid, TextInput } from '@mantine/core';
import { texts } from '../texts.ts';
import { SealedNote } from './sealed-note.tsx';
import { storeCredential } from './store-credential.ts';

const words = texts.emailForm;

const initialValues = {
  from: '',
  imap: { host: '', port: 993, secure: true, user: '', password: '' },
  smtp: { host: '', port: 465, secure: true, user: '', password: '' },
};
type Values = typeof initialValues;

/** Both servers nearly always have the same log-in: what is typed for reading stands in for sending. */
function withSharedLogin({ from, imap, smtp }: Values): Values {
  return {
    from,
    imap,
    smtp: { ...smtp, user: smtp.user || imap.user, password: smtp.password || imap.password },
  };
}

export function EmailForm() {
  const api = useApiForm<Values>({
    initialValues,
    send: async (values) => {
      await storeCredential('email', withSharedLogin(values));
      api.form.reset();
    },
  });
  return (
    <ApiFormView api={api} submitLabel={texts.connections.test}>
      <TextInput
        label={words.from}
        description={words.fromHint}
        autoComplete="email"
        required
        {...api.form.getInputProps('from')}
      />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <ServerFields api={api} side="imap" />
        <ServerFields api={api} side="smtp" />
      </SimpleGrid>
      <SealedNote />
    </ApiFormView>
  );
}

function ServerFields({ api, side }: { api: ReturnType<typeof useApiForm<Values>>; side: 'imap' | 'smtp' }) {
  const props = (field: string) => api.form.getInputProps(`${side}.${field}`);
  const isShared = side === 'smtp';
  return (
    <Fieldset legend={words[side]}>
      <TextInput label={words.host} placeholder={`${side}.example.com`} required {...props('host')} />
      <NumberInput label={words.port} required hideControls mt="xs" {...props('port')} />
      <Checkbox
        label={words.secure}
        description={words.secureHint}
        mt="sm"
        {...api.form.getInputProps(`${side}.secure`, { type: 'checkbox' })}
      />
      <TextInput
        label={words.user}
        autoComplete="off"
        required={!isShared}
        mt="xs"
        {...(isShared ? { placeholder: words.sameAsImap } : {})}
        {...props('user')}
      />
      <PasswordInput
        label={words.password}
        description={words.passwordHint}
        autoComplete="off"
        required={!isShared}
        mt="xs"
        {...(isShared ? { placeholder: words.sameAsImap } : {})}
        {...props('password')}
      />
    </Fieldset>
  );
}
