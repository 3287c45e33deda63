// Mails of invoices: tried again, past those that are refused, and never for what is void.
import type { Database } from '@libs/db';
import type { Handler } from '@libs/jobs';
import { MailError } from '@libs/mail';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acquireLock } from './lock-store.ts';
import { releaseWaitingInvoices } from './mails.ts';
import { LOCK_NAME, LOCK_TTL_MS } from './run.ts';
import { addCustomer, createOwnRig, createRig, never, type OwnRig, PERIOD, type Rig } from './test/rig.ts';

let database: Database;
let rig: OwnRig;

beforeEach(async () => {
  rig = await createOwnRig();
  ({ database } = rig);
});
afterEach(() => rig.remove());

describe('mails', () => {
  test('[TH-7.12] a mail that fails is failed_to_send, is tried again, and is then sent', async () => {
    const customer = await addCustomer(database, { plan: 'starter' });
    const poor = await addCustomer(database);
    let failing = true;
    const sent: string[] = [];
    const mailer = {
      send: async ({ id }: { id: string }) => {
        if (failing) throw new MailError('unreachable', 'no server');
        sent.push(id);
      },
    };
    const shaky = await createRig(database, { mailer });
    expect(await shaky.invoices.run(PERIOD, { signal: never })).toEqual({
      kind: 'done',
      created: 2,
      skipped: 0,
      failed: 2,
    });
    const statusOf = async (id: string) =>
      (await shaky.invoices.list({ customerId: id, before: undefined, limit: 1 }))[0]?.status;
    expect(await statusOf(customer)).toBe('failed_to_send');
    expect(await statusOf(poor)).toBe('paid');
    const retry = shaky.invoices.jobs.handlers.find(({ name }) => name === 'invoices.mail');
    failing = false;
    await retry?.handle([], { signal: never });
    expect(sent).toEqual([]);
    await database.query(`update invoices set mail_due_at = mail_due_at - interval '1 minute'`);
    await acquireLock(database, { name: LOCK_NAME, holder: 'run_other' }, LOCK_TTL_MS);
    await retry?.handle([], { signal: never });
    expect(sent).toEqual([]);
    // Killed five minutes ago: its lock holds for the rest of the hour, and the mails go out all the same.
    await database.query(`update job_locks set expires_at = expires_at - interval '5 minutes'`);
    await retry?.handle([], { signal: never });
    expect(await statusOf(customer)).toBe('sent');
    expect(sent).toHaveLength(2);
    await retry?.handle([], { signal: never });
    expect(sent).toHaveLength(2);
    await shaky.remove();
  });

  test('a mail that is refused does not keep the others', async () => {
    for (let count = 0; count < 25; count += 1)
      await addCustomer(database, { id: `cus_${count < 12 ? 'refused' : 'welcome'}_${count}` });
    const sent = new Set<string>();
    const mailer = {
      send: async ({ id, to }: { id: string; to: string }) => {
        if (to.includes('refused')) throw new MailError('refused', 'no such mailbox');
        sent.add(id);
      },
    };
    const picky = await createRig(database, { mailer, batchMax: 5 });
    const outcome = await picky.invoices.run(PERIOD, { signal: never });
    expect(outcome).toEqual({ kind: 'done', created: 25, skipped: 0, failed: 12 });
    expect(sent.size).toBe(13);
    await picky.remove();
  });

  test('a void invoice is not mailed any more, a paid one is', async () => {
    const first = await addCustomer(database, { plan: 'starter' });
    const second = await addCustomer(database, { plan: 'starter' });
    const away = await createRig(database, {
      mailer: {
        send: async () => {
          throw new MailError('unreachable', 'no server');
        },
      },
    });
    await away.invoices.run(PERIOD, { signal: never });
    const idOf = async (customerId: string) =>
      (await rig.invoices.list({ customerId, before: undefined, limit: 1 }))[0]?.id as string;
    expect((await rig.invoices.void(await idOf(first))).status).toBe('void');
    expect((await rig.invoices.markPaid(await idOf(second))).status).toBe('paid');
    await expect(rig.invoices.markPaid(await idOf(first))).rejects.toMatchObject({
      code: 'invoice_not_payable',
    });
    await expect(rig.invoices.void(await idOf(second))).rejects.toMatchObject({
      code: 'invoice_not_voidable',
    });
    await rig.invoices.run(PERIOD, { signal: never });
    expect([...(await rig.mails()).keys()]).toEqual([await idOf(second)]);
    expect(await rig.invoices.find({ customerId: second, id: await idOf(second) })).toMatchObject({
      status: 'paid',
    });
    await away.remove();
  });

  /** Tries what is due once, with a mailer that does this before it fails. */
  async function tryInVain(before: (invoiceId: string) => Promise<unknown> = async () => {}): Promise<void> {
    const mailer = {
      async send({ id }: { id: string }) {
        await before(id);
        throw new MailError('refused', 'no such mailbox');
      },
    };
    const shaky = await createRig(database, { mailer });
    await database.query(
      'update invoices set mail_due_at = statement_timestamp() where mail_due_at is not null',
    );
    await mailJob(shaky).handle([], { signal: never });
    await shaky.remove();
  }
  const mailJob = ({ invoices }: Rig) =>
    invoices.jobs.handlers.find(({ name }) => name === 'invoices.mail') as Handler;
  const mailOf = async (customerId: string) =>
    (
      await database.query<{ status: string; mail_state: string; mail_due_at: Date | null }>(
        'select status, mail_state, mail_due_at from invoices where customer_id = $1',
        [customerId],
      )
    ).rows[0];
  /** An invoice whose mail has not left. */
  async function addUnsent(): Promise<string> {
    const customer = await addCustomer(database, { plan: 'starter' });
    const stopped = await createRig(database, {
      mailer: {
        send: async () => {
          throw new MailError('refused', 'no such mailbox');
        },
      },
    });
    await stopped.invoices.run(PERIOD, { signal: never });
    await stopped.remove();
    return customer;
  }

  test('[TH-7.12] of an invoice that is voided while its mail is under way, none is tried again', async () => {
    const customer = await addUnsent();
    await tryInVain((id) => rig.invoices.void(id));
    expect(await mailOf(customer)).toEqual({ status: 'void', mail_state: 'canceled', mail_due_at: null });
  });

  test('[TH-7.12] who was taken over has no say any more', async () => {
    const customer = await addUnsent();
    await database.query(`update invoices set status = 'open'`);
    await tryInVain(() => database.query('update invoices set mail_attempts = mail_attempts + 1'));
    expect(await mailOf(customer)).toMatchObject({ status: 'open', mail_state: 'sending' });
  });

  test('[TH-7.12] after forty tries nobody tries again by itself, until a run does', async () => {
    const customer = await addUnsent();
    await database.query('update invoices set mail_attempts = 38');
    await tryInVain();
    expect((await mailOf(customer))?.mail_due_at).not.toBeNull();
    await tryInVain();
    expect(await mailOf(customer)).toEqual({
      ...{ status: 'failed_to_send', mail_state: 'failed', mail_due_at: null },
    });
    await rig.invoices.run(PERIOD, { signal: never });
    expect(await mailOf(customer)).toMatchObject({ status: 'sent' });
  });

  test('[TH-7.16] a verified address lets its own invoices leave, and nobody else’s', async () => {
    const [ada, eve] = [
      await addCustomer(database, { plan: 'starter', isVerified: false }),
      await addCustomer(database, { plan: 'starter', isVerified: false }),
    ];
    await rig.invoices.run(PERIOD, { signal: never });
    await database.transaction((tx) => releaseWaitingInvoices(tx, ada));
    await mailJob(rig).handle([], { signal: never });
    expect(await mailOf(ada)).toMatchObject({ status: 'sent' });
    expect(await mailOf(eve)).toMatchObject({ status: 'open', mail_state: 'waiting' });
  });
});
