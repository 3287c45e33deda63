import type { Account } from '@libs/ui/account';
import { client, refresh, useList } from '../api/client.ts';
import { SESSION_PATH } from '../api/shown-session.ts';
import type { Session } from '../api/types.ts';
import { Brand } from './brand.tsx';

export const account: Account = {
  client,
  api: { useList, refresh },
  brand: <Brand />,
  async verifiedAddress() {
    const { user } = await client.get<Session>(SESSION_PATH);
    return user.email_verified ? user.email : null;
  },
  paths: { auth: SESSION_PATH, person: SESSION_PATH, own: SESSION_PATH },
};
