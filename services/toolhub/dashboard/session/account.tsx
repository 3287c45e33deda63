import type { Account } from '@libs/ui/account';
import { client, refresh, useList } from '../api/client.ts';
import { Brand } from './brand.tsx';
import { ME_PATH, type Me } from './me.ts';

export const account: Account = {
  client,
  api: { useList, refresh },
  brand: <Brand />,
  async verifiedAddress() {
    const { customer } = await client.get<Me>(ME_PATH);
    return customer.email_verified ? customer.email : null;
  },
  paths: { auth: '/api/auth', person: ME_PATH, own: '/api' },
};
