// A mail server that is away for long: the mail that proves an address leaves when it is back.
import { freePort } from '@libs/runtime/testing';
import { SMTPServer } from 'smtp-server';
import { afterAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { signUp } from './person.ts';

/** More than the mails that one person is sent in an hour. */
const TRIES_IN_VAIN = 8;

let harness: Harness;
let server: SMTPServer | undefined;
afterAll(async () => {
  await harness.stop();
  await new Promise<void>((closed) => (server ? server.close(closed) : closed()));
});

test('tries in vain use up no mail: the link comes when the mail server is back', async () => {
  const port = await freePort();
  harness = await startHarness({ env: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'p@example.com' } });
  const { email } = await signUp(harness);
  const { database } = harness;
  await expect
    .poll(
      async () => {
        // As if the wait before the next try had passed.
        const { rows } = await database.query<{ attempts: number }>(
          `update jobs set ready_at = statement_timestamp() where name = 'mail.account' and last_error is not null
           returning attempts`,
        );
        await database.query(`select pg_notify('payments_jobs', 'mail.account')`);
        return rows[0]?.attempts ?? 0;
      },
      { timeout: 30_000, interval: 100 },
    )
    .toBeGreaterThanOrEqual(TRIES_IN_VAIN);

  const received: { to: string; text: string }[] = [];
  server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'] },
    onData(stream, session, done) {
      let text = '';
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      stream.on('end', () => {
        received.push({ to: session.envelope.rcptTo.map(({ address }) => address).join(), text });
        done();
      });
    },
  });
  server.listen(port, '127.0.0.1');
  await database.query(`update jobs set ready_at = statement_timestamp() where name = 'mail.account'`);
  await expect.poll(() => received.length).toBe(1);
  expect(received[0]).toEqual({
    to: email,
    text: expect.stringMatching(/\/dashboard\/verify\?token=3D?pml_/),
  });
});
