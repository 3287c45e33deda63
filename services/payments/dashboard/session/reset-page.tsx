import { ResetPage as SharedPage } from '@libs/ui/account';
import { account } from './account.tsx';

export function ResetPage() {
  return <SharedPage account={account} />;
}
