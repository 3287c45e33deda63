import { SignupPage as SharedPage } from '@libs/ui/account';
import { TextInput } from '@mantine/core';
import type { Session } from '../api/types.ts';
import { texts } from '../texts.ts';
import { account } from './account.tsx';
import { useEnter } from './after-login.ts';

export function SignupPage() {
  return (
    <SharedPage<Session, { organisation: string }>
      account={account}
      lead={texts.signup.lead}
      enter={useEnter()}
      more={{
        initialValues: { organisation: '' },
        fields: (form) => (
          <TextInput
            label={texts.fields.organisation}
            autoComplete="organization"
            required
            {...form.getInputProps('organisation')}
          />
        ),
      }}
    />
  );
}
