import { RateLimits } from '@libs/http';
import type { Mail } from '@libs/mail';
import { afterEach, expect, test } from 'vitest';
import { createNotices } from './service.ts';

const rates = new RateLimits();
afterEach(() => rates.close());

test('ten of a kind leave to one address in an hour, and tries in vain count for nothing', async () => {
  const sent: Mail[] = [];
  let isAway = true;
  const notices = createNotices({
    database: { schema: 'payments' },
    mailer: {
      async send(mail) {
        if (isAway) throw new Error('the mail server is away');
        sent.push(mail);
      },
    },
    members: { reachable: async () => [] },
    limit: rates.limit({ name: 'notices', limit: 10, windowSeconds: 3_600, burst: 10 }),
    publicUrl: 'https://pay.example',
    newId: (prefix) => `${prefix}_1`,
  });
  const disabled = { kind: 'webhook_endpoint_disabled', endpointId: 'we_1', mode: 'test', isGone: true };
  const handle = (notice: object, email: string, attempt = 1) =>
    notices.handlers[0]?.handle(
      [{ id: 1, name: 'mail.notice', key: null, attempt, payload: { id: 'ntc_1', email, notice } }],
      { signal: AbortSignal.timeout(60_000) },
    );
  for (let attempt = 1; attempt <= 20; attempt += 1)
    await expect(handle(disabled, 'ada@example.com', attempt)).rejects.toThrow('away');
  isAway = false;
  await handle(disabled, 'ada@example.com', 21);
  for (let count = 0; count < 30; count += 1) await handle(disabled, 'ada@example.com');
  expect(sent).toHaveLength(10);
  await handle({ kind: 'live_access_approved' }, 'ada@example.com');
  await handle(disabled, 'grace@example.com');
  expect(sent).toHaveLength(12);
});
