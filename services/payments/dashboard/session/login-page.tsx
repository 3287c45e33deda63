import { LoginPage as SharedPage } from '@libs/ui/account';
import type { Session } from '../api/types.ts';
import { account } from './account.tsx';
import { useEnter } from './after-login.ts';

export function LoginPage() {
  return <SharedPage<Session> account={account} enter={useEnter()} />;
}
