import { VerifyPage as SharedPage } from '@libs/ui/account';
import { account } from './account.tsx';

export function VerifyPage() {
  return <SharedPage account={account} />;
}
