import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transaction } from '@libs/db';
import { simpleParser } from 'mailparser';
import { expect } from 'vitest';
import { type Account, type Answer, call } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  type InstanceOptions,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';

export type AccountRig = Awaited<ReturnType<typeof createAccountRig>>;

interface ReadMail {
  subject: string;
  text: string;
  to: string;
  headers: string;
}

/** The service with the mails that really leave. */
export async function createAccountRig(options: Pick<InstanceOptions, 'connectors' | 'overhear'> = {}) {
  const db = await createToolhubDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'toolhub-mails-'));
  const service = await startInstance(db.url, { ...options, env: { DATA_DIR: folder }, jobs: true });
  const { url } = service;

  async function mailsTo(address: string): Promise<ReadMail[]> {
    const names = await readdir(join(folder, 'mail')).catch(() => []);
    const mails = await Promise.all(
      names
        .filter((name) => name.endsWith('.eml'))
        .sort()
        .map(async (name) => {
          const source = await readFile(join(folder, 'mail', name), 'utf8');
          const { subject = '', text = '' } = await simpleParser(source);
          return {
            subject,
            text,
            to: /^To: (.*)$/m.exec(source)?.[1]?.trim() ?? '',
            headers: source.split('\r\n\r\n', 1)[0] ?? '',
          };
        }),
    );
    return mails.filter(({ to }) => to === address);
  }

  return {
    ...{ url, database: db.database, mailsTo },

    /** The token of the newest mail of this kind, and how it was worded. */
    async linkIn(address: string, page: 'verify' | 'reset', count = 1): Promise<string> {
      const pattern = new RegExp(`${url}/${page}\\?token=([\\w-]+)`);
      const tokens = async () =>
        (await mailsTo(address)).flatMap(({ text }) => pattern.exec(text)?.[1] ?? []);
      await expect.poll(async () => (await tokens()).length).toBeGreaterThanOrEqual(count);
      return (await tokens()).at(-1) as string;
    },

    post: (path: string, body: unknown, account?: Account): Promise<Answer> =>
      call(`${url}${path}`, { body, ...(account === undefined ? {} : { cookie: account.cookie }) }),

    me: (account: Account) =>
      call<{ customer: { email_verified: boolean; name: string } }>(`${url}/api/me`, {
        cookie: account.cookie,
      }),

    /**
     * The change is made but not committed when the call comes, and committed once the call waits for it, or is answered;
     * what is left of the change comes before that.
     */
    async during(
      change: (tx: Transaction) => Promise<unknown>,
      act: () => Promise<Answer>,
      rest: (tx: Transaction) => Promise<unknown> = async () => {},
    ): Promise<Answer> {
      let answer: Promise<Answer> | undefined;
      let isAnswered = false;
      await db.database.transaction(async (tx) => {
        await change(tx);
        answer = act().finally(() => {
          isAnswered = true;
        });
        const began = performance.now();
        const waits = async () => {
          const { rows } = await tx.query(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          // On a cluster it waits on the server where the customer is, which is not seen from here.
          return isAnswered || rows.length > 0 || performance.now() - began > 2_000;
        };
        await expect.poll(waits).toBe(true);
        await rest(tx);
      });
      return answer as Promise<Answer>;
    },

    async close(): Promise<void> {
      await service.stop();
      await db.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
