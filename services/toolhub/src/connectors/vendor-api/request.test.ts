import { expect, test } from 'vitest';
import type { ToolContext } from '../connector.ts';
import { createVendorApi, refusedBy } from './request.ts';
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
