// A mail server that takes a mail and hangs up without an answer: the mail is sent again, and whichever of the two is opened first, its link works.
import type { Socket } from 'node:net';
import { freePort } from '@libs/runtime/testing';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { openBrowser, PASSWORD, signUp } from './person.ts';

let harness: Harness;
let server: SMTPServer;
const received: { to: string; subject: string; token: string }[] = [];
/** Whom it has left without an answer. */
const unanswered = new Set<string>();

beforeAll(async () => {
  const port = await freePort();
  server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'] },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const { subject = '', text = '' } = await simpleParser(Buffer.concat(chunks));
        const to = session.envelope.rcptTo.map(({ address }) => address).join();
        received.push({ to, subject, token: /\?token=(\S+)/.exec(text)?.[1] ?? '' });
        const which = `${to} ${subject}`;
        if (unanswered.has(which)) return done();
        unanswered.add(which);
        const { connections } = server as unknown as { connections: Set<{ _socket: Socket }> };
        for (const { _socket: socket } of connections) socket.destroy();
      });
    },
  });
  server.listen(port, '127.0.0.1');
  harness = await startHarness({ env: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'p@example.com' } });
});
afterAll(async () => {
  await harness.stop();
  await new Promise<void>((closed) => server.close(closed));
});

/** Both mails of one subject, the second one as if the wait before the next try had passed. */
async function twiceTo(address: string, subject: RegExp): Promise<string[]> {
  const mails = () => received.filter((mail) => mail.to === address && subject.test(mail.subject));
  const { database } = harness;
  await expect
    .poll(async () => {
      await database.query(
        `update jobs set ready_at = statement_timestamp() where name like 'mail.%' and last_error is not null`,
      );
      await database.query(`select pg_notify('payments_jobs', 'mail.account')`);
      await database.query(`select pg_notify('payments_jobs', 'mail.invitation')`);
      return mails().length;
    })
    .toBe(2);
  return mails().map(({ token }) => token);
}

test('the link of a mail of which no answer came works, beside that of its repeat', async () => {
  const ada = await signUp(harness);
  const [verifying = ''] = await twiceTo(ada.email, /Verify/);
  expect((await ada.call('POST', '/v1/session/verify', { token: verifying })).status).toBe(200);

  await openBrowser(harness).call('POST', '/v1/session/forgot', { email: ada.email });
  const [resetting = ''] = await twiceTo(ada.email, /new password/);
  const reset = { token: resetting, password: `${PASSWORD} again` };
  expect((await openBrowser(harness).call('POST', '/v1/session/reset', reset)).status).toBe(200);
});

test('an invitation of which no answer came is the same as its repeat', async () => {
  const ada = await signUp(harness);
  const [verifying = ''] = await twiceTo(ada.email, /Verify/);
  await ada.call('POST', '/v1/session/verify', { token: verifying });
  const invited = await ada.call('POST', '/v1/invitations', { email: 'eve@example.com', role: 'viewer' });
  expect([invited.status, invited.text]).toEqual([201, expect.anything()]);
  const [first, second] = await twiceTo('eve@example.com', /invited/);
  expect(first).toMatch(/^piv_[\w-]{24}$/);
  expect(second).toBe(first);
});
