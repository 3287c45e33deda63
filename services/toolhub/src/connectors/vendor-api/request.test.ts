import { expect, test } from 'vitest';
import { ConnectorError, type ToolContext } from '../connector.ts';
import { createVendorApi, refusedBy, retryAfterSeconds } from './request.ts';
import { fieldsOf } from './shape.ts';

const SECRET = 's'.repeat(8_000);
const call = createVendorApi<{ secret: string }>({
  title: 'Vendor',
  baseUrl: () => 'https://vendor.test',
  headers: () => ({}),
  secrets: ({ secret }) => [secret],
  explain: ({ body }, said) => refusedBy('Vendor', said(fieldsOf(body).message), '400'),
});

test.each([
  ['a secret of any length', `no: ${SECRET} is over`, 'no: … is over'],
  ['half a character behind a cut', `${'a'.repeat(299)}😀`, `${'a'.repeat(299)}\ufffd`],
  ['half a character of the vendor’s own', 'x\ud83dy', 'x\ufffdy'],
  ['characters that no screen shows', 'one\u0000\r\ntwo', 'one two'],
])('the words of a vendor are shown without %s', async (_what, message, shown) => {
  const context = {
    credential: { secret: SECRET },
    now: () => new Date(),
    fetch: async () => Response.json({ message }, { status: 400 }),
  } as unknown as ToolContext<{ secret: string }>;
  await expect(call(context, { path: '/x' })).rejects.toThrow(
    expect.objectContaining({ message: `Vendor refused: ${shown}` }),
  );
});

/** Answers each try in its turn; an error is thrown. */
function contextOf(...tries: (Response | ConnectorError)[]) {
  const next = async () => {
    const answer = tries.shift();
    if (answer instanceof Response) return answer;
    throw answer;
  };
  return {
    credential: { secret: SECRET },
    now: () => new Date(),
    fetch: next,
    signal: new AbortController().signal,
  } as unknown as ToolContext<{ secret: string }>;
}

const cut = () => new ConnectorError('platform_unavailable', 'it does not answer', { outcomeOpen: true });
const refusedPlace = () => new ConnectorError('platform_unavailable', 'no connection');

test('what became of a try that was cut stays open, whatever the repeat of it meets', async () => {
  const request = { method: 'POST', path: '/x', repeatable: true } as const;
  const open = { code: 'platform_unavailable', outcomeOpen: true };
  await expect(call(contextOf(cut(), refusedPlace()), request)).rejects.toMatchObject(open);
  await expect(
    call(contextOf(cut(), Response.json({ message: 'no' }, { status: 400 })), request),
  ).rejects.toMatchObject({ ...open, platformCode: '400', message: expect.stringContaining('refused: no') });
  await expect(call(contextOf(refusedPlace(), refusedPlace()), request)).rejects.toMatchObject({
    outcomeOpen: false,
  });
  expect(await call(contextOf(cut(), Response.json({})), request)).toMatchObject({ status: 200 });
});

test.each([{ path: '/x' }, { method: 'POST', path: '/x', isRead: true } as const])(
  'of a read the last try tells: %j',
  async (request) => {
    await expect(call(contextOf(cut(), refusedPlace()), request)).rejects.toMatchObject({
      outcomeOpen: false,
    });
    await expect(call(contextOf(refusedPlace(), cut()), request)).rejects.toMatchObject({
      outcomeOpen: true,
    });
  },
);

test.each([
  ['600.5', 601],
  ['0', 1],
  ['Sun, 15 Nov 2026 12:00:30 GMT', 30],
  ['9999999', 86_400],
  // What says nothing leaves it to the window, which begins anew in 90 seconds.
  ['-1', 90],
  ['retry-after 5', 90],
])('Retry-After: %s asks for %i seconds', (after, seconds) => {
  const headers = new Headers({ 'retry-after': after, 'x-ratelimit-reset': '90' });
  expect(retryAfterSeconds(headers, new Date('2026-11-15T12:00:00Z'))).toBe(seconds);
});
