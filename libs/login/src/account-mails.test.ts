import type { Database } from '@libs/db';
import type { Job } from '@libs/jobs';
import type { Mail } from '@libs/mail';
import { expect, test } from 'vitest';
import { createAccountMails } from './account-mails.ts';
import type { MailToken, MailTokenKind } from './mail-token.ts';
import type { MailTokensStore } from './mail-tokens-store.ts';

const HOUR_MS = 60 * 60_000;

function openMails({ emailVerified }: { emailVerified: boolean }) {
  const sent: Mail[] = [];
  const tokens: MailToken[] = [];
  let nowMs = Date.parse('2026-11-15T10:00:00Z');
  const mails = createAccountMails({
    personIsTenant: false,
    database: { transaction: (work: (tx: unknown) => unknown) => work({}) } as unknown as Database,
    store: {
      async insert(_tx, token, { since, tokensMax }) {
        const before = tokens.filter(({ kind, createdAt }) => kind === token.kind && createdAt > since);
        if (before.length >= tokensMax) return false;
        tokens.push(token);
        return true;
      },
    } as MailTokensStore,
    people: {
      find: async (_db, id) => ({ id, email: 'ada@example.com', emailVerified }),
      lock: async () => true,
    },
    mailer: {
      send: async (mail) => {
        sent.push(mail);
      },
    },
    words: {
      product: 'Shop',
      pages: { verify: 'https://shop.example/verify', reset: 'https://shop.example/reset' },
      tokenPrefix: 'shp_',
      reclaimed: 'keys',
    },
    newId: (prefix) => `${prefix}_${tokens.length}`,
    randomBytes: (size) => Buffer.alloc(size, tokens.length),
    now: () => new Date(nowMs),
  });
  const send = (kind: MailTokenKind) =>
    mails.handlers[0]?.handle([{ payload: { kind, customerId: 'usr_1' } } as Job], {
      signal: new AbortController().signal,
    });
  return {
    sent,
    /** So many as are asked for every hour, for a day. */
    async askAllDay(kind: MailTokenKind) {
      for (let asked = 0; asked < 24 * 6; asked += 1) {
        await send(kind);
        nowMs += HOUR_MS / 6;
      }
    },
    send,
  };
}

test('whoever asks without end has five mails of a kind sent in an hour, to an address that nobody verified in a day', async () => {
  const known = openMails({ emailVerified: true });
  await known.askAllDay('reset');
  expect(known.sent).toHaveLength(24 * 5);
  const stranger = openMails({ emailVerified: false });
  await stranger.askAllDay('reset');
  await stranger.askAllDay('verify');
  expect(stranger.sent.map(({ subject }) => subject)).toEqual([
    ...new Array(5).fill('Choose a new password'),
    ...new Array(5).fill('Verify your e-mail address'),
  ]);
});

test('a new password for an address that nobody verified says that the link verifies it, and what goes', async () => {
  const { sent, send } = openMails({ emailVerified: false });
  await send('reset');
  expect(sent[0]?.text).toMatch(/The link verifies it, and removes what was made before:\nkeys\./);
});
