import { LoginPage as SharedPage } from '@libs/ui/account';
import { account } from './account.tsx';
import { useEnter } from './after-login.ts';
import type { Me } from './me.ts';

export function LoginPage() {
  return <SharedPage<Me> account={account} enter={useEnter()} />;
}
