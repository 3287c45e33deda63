import type { Account } from '@libs/ui/account';
import { client, refresh, useList } from '../api/client.ts';
import { Brand } from './brand.tsx';
import { ME_PATH, type Me } from './me.ts';

export const account: Account = {
  client,
  api: { useList, refresh },
  brand: <Brand />,
  isVerified: async () => (await client.get<Me>(ME_PATH)).customer.email_verified,
  paths: { auth: '/api/auth', person: ME_PATH, own: '/api' },
};
