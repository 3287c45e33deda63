import type { ReactNode } from 'react';
import type { Api } from '../api/api.ts';
import type { Client } from '../api/client.ts';

/** Where a product keeps what belongs to a person who logs in, and how its pages call it. */
export interface Account {
  client: Client;
  api: Pick<Api, 'useList' | 'refresh'>;
  brand: ReactNode;
  /** The address of the person who is logged in here, once it is proved; nobody is logged in: refused. */
  verifiedAddress: () => Promise<string | null>;
  paths: {
    /** Before `/login`, `/signup`, `/forgot`, `/reset`, `/verify` and `/password`. */
    auth: string;
    /** The person, who is read and changed there. */
    person: string;
    /** Before `/sessions`, `/passkeys` and `/passkey`. */
    own: string;
  };
}
