// Who waits is told: the person by mail, the log of what nobody decided on.

import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '@libs/db/testing';
import type { Job } from '@libs/jobs';
import type { Mail } from '@libs/mail';
import { createIdFactory } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToolhubDatabase } from '../../test/instance.ts';
import { type AuditService, createAuditService } from '../audit/service.ts';
import { createApprovalMails } from './mails.ts';
import { type ApprovalsDependencies, createApprovals } from './service.ts';
import { insertApproval } from './store.ts';

const START = new Date('2026-11-15T12:00:00Z');
const MINUTE_MS = 60_000;
const clock = { now: START };
const sent: Mail[] = [];
const people = { verified: true };
let db: TestDatabase;

beforeAll(async () => {
  db = await createToolhubDatabase();
  await db.database.query(
    `insert into customers (id, email, name, password_hash, created_at) values ('cus_1', 'a@example.com', 'A', 'x', now())`,
  );
});
afterAll(() => db?.drop());

const mails = () =>
  createApprovalMails({
    ...{ schema: db.database.schema, database: db.database, publicUrl: 'https://toolhub.example' },
    mailer: { send: async (mail) => void sent.push(mail) },
    customers: {
      find: async (id) => ({
        ...{ id, email: 'a@example.com', name: 'Press here: evil.example', plan: 'free', createdAt: START },
        emailVerified: people.verified,
      }),
    },
    now: () => clock.now,
  });

const note = (number: number, at: Date) =>
  db.database.transaction(async (tx) => {
    const id = `apr_${String(number).padStart(26, '0')}`;
    await insertApproval(tx, {
      ...{ customerId: 'cus_1', id, client: { id: 'c', name: 'C' }, tool: 't', platform: 'p', key: null },
      ...{
        argumentsHash: Buffer.from('h'),
        sealedArguments: Buffer.from('s'),
        status: 'pending',
        usedKey: null,
      },
      ...{ createdAt: at, expiresAt: new Date(at.getTime() + 24 * 60 * MINUTE_MS), decidedAt: null },
    });
    await mails().plan(tx, 'cus_1', at);
  });

async function takeJobs(): Promise<Job[]> {
  const { rows } = await db.database.query<Job>(
    `delete from jobs where name = 'mail.approval_waits' returning *`,
  );
  return rows.sort((a, b) => a.id - b.id);
}

test('[TH-11.30] many calls are one mail at once and one ten minutes later, to a verified address alone', async () => {
  const after = (minutes: number) => new Date(START.getTime() + minutes * MINUTE_MS);
  await note(1, START);
  for (const minute of [1, 2, 3]) await note(minute + 1, after(minute));
  const jobs = await takeJobs();
  expect(jobs.map(({ payload }) => (payload as { plannedAt: string }).plannedAt)).toEqual([
    START.toISOString(),
    after(10).toISOString(),
  ]);
  await note(5, after(45));
  expect(await takeJobs()).toHaveLength(1);

  const [handler] = mails().handlers;
  const options = { signal: new AbortController().signal } as never;
  await handler?.handle(jobs, options);
  expect(sent.map(({ subject }) => subject)).toEqual(['5 calls wait for you', '5 calls wait for you']);
  expect(sent[0]?.text).toContain('https://toolhub.example/approvals');
  expect(sent[0]?.text).not.toContain('evil');
  expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
  people.verified = false;
  await handler?.handle(jobs, options);
  people.verified = true;
  // Decided on in the meantime: nothing to tell.
  clock.now = after(48 * 60);
  await handler?.handle(jobs, options);
  expect(sent).toHaveLength(2);
});

test('[TH-11.30] what nobody decided on is in the log once, also where the process ends between the mark and the log', async () => {
  const now = () => clock.now;
  const newId = createIdFactory({ now, randomBytes });
  const audit = createAuditService({ database: db.database, newId, now, onError: () => {} });
  const handle = (log: Pick<AuditService, 'recordIn'>) => {
    const deps = { database: db.database, audit: log, now, mails: mails() };
    const approvals = createApprovals(deps as unknown as ApprovalsDependencies);
    return approvals.handlers[0]?.handle([], {} as never);
  };
  clock.now = new Date(START.getTime() + 24 * 60 * MINUTE_MS + 1);
  const ended = new Error('the process has ended');
  await expect(handle({ recordIn: () => Promise.reject(ended) })).rejects.toThrow(ended);
  for (let times = 0; times < 2; times += 1) await handle(audit);
  const { entries } = await audit.list({ customerId: 'cus_1', limit: 10 });
  expect(entries).toMatchObject([
    { action: 'approval.expired', target: 'apr_00000000000000000000000001', outcome: 'refused' },
  ]);
});
