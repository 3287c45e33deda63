// People as the service meets them: a browser that keeps its cookie, and a mailbox.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import type { Answer, CallOptions, Harness, Instance } from './harness.ts';

export const PASSWORD = 'correct horse battery';

export interface Browser {
  /** As a page of the dashboard calls: with the cookie, in test mode unless told otherwise. */
  call(method: string, path: string, body?: unknown, options?: BrowserOptions): Promise<Answer>;
  /** As its requests send it. */
  readonly cookie: string | undefined;
}

interface BrowserOptions extends Pick<CallOptions, 'headers'> {
  mode?: 'test' | 'live';
  /** Another process than the browser's usual one. */
  at?: Instance;
}

export function openBrowser(instance: Instance, cookie?: string): Browser {
  const jar = new Map<string, string>();
  const keep = (pair: string) => jar.set(pair.split('=', 1)[0] as string, pair);
  if (cookie !== undefined) for (const pair of cookie.split('; ')) keep(pair);
  const browser: Browser = {
    get cookie() {
      return jar.size === 0 ? undefined : [...jar.values()].join('; ');
    },
    async call(method, path, body, { mode, at = instance, headers } = {}) {
      const answer = await at.call(method, path, {
        key: null,
        ...(body === undefined ? {} : { body }),
        headers: {
          ...(browser.cookie === undefined ? {} : { cookie: browser.cookie }),
          ...(mode === undefined ? {} : { 'payments-mode': mode }),
          ...headers,
        },
      });
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ''] = set.split(';', 1);
        if (/Max-Age=0/.test(set)) jar.delete(pair.split('=', 1)[0] as string);
        else keep(pair);
      }
      return answer;
    },
  };
  return browser;
}

let people = 0;

/** Somebody new, with an organisation of their own. */
export async function signUp(
  instance: Instance,
  more: Record<string, unknown> = {},
): Promise<Browser & { email: string; organisationId: string; userId: string }> {
  people += 1;
  const email = `person${people}@example.com`;
  const browser = openBrowser(instance);
  const answer = await browser.call('POST', '/v1/session/signup', {
    ...{ email, password: PASSWORD, name: 'Ada', organisation: 'Acme' },
    ...more,
  });
  if (answer.status !== 201) throw new Error(`sign-up answered ${answer.status} ${answer.text}`);
  const { user, organisation } = answer.body;
  return Object.assign(browser, { email: user.email, organisationId: organisation.id, userId: user.id });
}

export interface ReceivedMail {
  subject: string;
  text: string;
  /** What its link carries. */
  token: string;
}

/** Every mail to the address that has left, the oldest first. */
export async function mailsTo(harness: Harness, address: string): Promise<ReceivedMail[]> {
  const folder = join(harness.testDatabase.dataDir, 'mail');
  const files = await readdir(folder).catch(() => []);
  const mails: ReceivedMail[] = [];
  for (const file of files.filter((name) => name.endsWith('.eml')).sort()) {
    const source = await readFile(join(folder, file), 'utf8');
    if (/^To: (.*?)\r?$/m.exec(source)?.[1] !== address) continue;
    const { subject = '', text = '' } = await simpleParser(source);
    mails.push({ subject, text, token: /\?token=(\S+)/.exec(text)?.[1] ?? '' });
  }
  return mails;
}

/** Proves the address by the link of the mail. */
export async function verifyAddress(harness: Harness, browser: Browser & { email: string }): Promise<void> {
  const { token } = await nextMail(harness, browser.email, /Verify/);
  const answer = await browser.call('POST', '/v1/session/verify', { token });
  if (answer.status !== 200) throw new Error(`verify answered ${answer.status} ${answer.text}`);
}

/** A mail leaves by a job, which waits for its turn where the machine has other work. */
const MAIL_WAIT_MS = 30_000;

/** The newest mail of a subject, once there are more of them than before. */
export async function nextMail(
  harness: Harness,
  address: string,
  subject: RegExp,
  before = 0,
): Promise<ReceivedMail> {
  const deadlineMs = performance.now() + MAIL_WAIT_MS;
  while (performance.now() < deadlineMs) {
    const mails = (await mailsTo(harness, address)).filter((mail) => subject.test(mail.subject));
    if (mails.length > before) return mails.at(-1) as ReceivedMail;
    await new Promise((resume) => setTimeout(resume, 50));
  }
  throw new Error(`no mail to ${address}`);
}
