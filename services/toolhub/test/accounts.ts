import { randomBytes } from 'node:crypto';
import { checkExchange } from '@libs/http/testing';
import { Browser } from './browser.ts';

export const PASSWORD = 'correct horse battery';

export interface Account {
  id: string;
  email: string;
  /** Logged in. */
  browser: Browser;
  cookie: string;
}

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
}

/** A JSON call; `credential` is a Bearer token or a cookie. */
export async function call<Body = Record<string, unknown>>(
  url: string,
  options: {
    method?: string;
    body?: unknown;
    token?: string;
    cookie?: string;
    headers?: Record<string, string>;
  } = {},
): Promise<Answer<Body>> {
  const { method = options.body === undefined ? 'GET' : 'POST', body, token, cookie } = options;
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(cookie === undefined ? {} : { cookie }),
    ...options.headers,
  };
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const answer = await fetch(url, {
    method,
    headers,
    ...(sent === undefined ? {} : { body: sent }),
    redirect: 'manual',
  });
  const text = await answer.text();
  checkExchange(
    url,
    { method, headers, body: sent },
    { status: answer.status, headers: answer.headers, text },
  );
  return {
    status: answer.status,
    headers: answer.headers,
    body: (/\bjson\b/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : { text }) as Body,
  };
}

export function newEmail(): string {
  return `user-${randomBytes(6).toString('hex')}@example.com`;
}

export async function signUp(url: string, email = newEmail()): Promise<Account> {
  const browser = new Browser();
  const visit = await browser.fetch(`${url}/api/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD, name: 'Ada Test' }),
  });
  if (visit.status !== 201) throw new Error(`sign-up answered ${visit.status}: ${visit.text}`);
  const { customer } = JSON.parse(visit.text) as { customer: { id: string } };
  return { id: customer.id, email, browser, cookie: browser.cookiesFor(new URL(url)) };
}

export async function makeToken(
  url: string,
  account: Account,
  input: { scopes?: string[]; expires_in_days?: number } = {},
): Promise<{ id: string; token: string }> {
  const { status, body } = await call<{ id: string; token: string }>(`${url}/api/tokens`, {
    body: { name: 'test', ...input },
    cookie: account.cookie,
  });
  if (status !== 201) throw new Error(`POST /api/tokens answered ${status}`);
  return body;
}
