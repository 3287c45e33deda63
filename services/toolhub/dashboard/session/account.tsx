import type { Account } from '@libs/ui/account';
import { client, refresh, useList } from '../api/client.ts';
import { Brand } from './brand.tsx';
import { ME_PATH } from './me.ts';

export const account: Account = {
  client,
  api: { useList, refresh },
  brand: <Brand />,
  paths: { auth: '/api/auth', person: ME_PATH, own: '/api' },
};
