import { ForgotPage as SharedPage } from '@libs/ui/account';
import { account } from './account.tsx';

export function ForgotPage() {
  return <SharedPage account={account} />;
}
