import { SignupPage as SharedPage } from '@libs/ui/account';
import { texts } from '../texts.ts';
import { account } from './account.tsx';
import { useEnter } from './after-login.ts';
import type { Me } from './me.ts';

export function SignupPage() {
  return (
    <SharedPage<Me>
      account={account}
      lead={texts.signup.lead}
      submitLabel={texts.signup.submit}
      enter={useEnter()}
    />
  );
}
