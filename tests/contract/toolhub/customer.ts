// A customer who has signed up, and the interface as their token sees it.
import { type Account, call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';

export interface Customer extends Account {
  /** May read and change the account. */
  token: string;
}

export async function newCustomer(url: string): Promise<Customer> {
  const account = await signUp(url);
  const { token } = await makeToken(url, account, { scopes: ['account:read', 'account:write'] });
  return { ...account, token };
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely by the tests.
  body: any;
}

export type Api = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Calls with a token. */
export function apiOf(url: string, token: string): Api {
  return async (method, path, body) => {
    const { status, body: answer } = await call(url + path, {
      method,
      token,
      ...(body === undefined ? {} : { body }),
    });
    return { status, body: answer };
  };
}
