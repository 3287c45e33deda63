import { expect, test } from 'vitest';
import { type ExportSection, listSection, shown } from './section.ts';
import { exportJson } from './write.ts';

const numbers = (name: string, count: number): ExportSection =>
  listSection(name, {
    read: async (_customerId, { before, limit }) => {
      const from = before === undefined ? 0 : Number(before) + 1;
      return Array.from({ length: Math.min(limit, count - from) }, (_, index) => ({
        ...{ number: from + index, secretHash: 'hidden' },
      }));
    },
    positionOf: ({ number }) => String(number),
    fields: ['number'],
  });

async function read(sections: readonly ExportSection[], rowsMax?: number) {
  const at = new Date('2026-11-15T12:00:00Z');
  let text = '';
  for await (const piece of exportJson(sections, {
    customerId: 'cus_1',
    at,
    ...(rowsMax ? { rowsMax } : {}),
  }))
    text += piece;
  return { text, file: JSON.parse(text) };
}

test('[TH-11.31] is one JSON document with every row of every page, and fields that were named', async () => {
  const profile: ExportSection = { name: 'profile', one: async (id) => ({ id }) };
  const nothing: ExportSection = { name: 'webhook', one: async () => undefined };
  const { text, file } = await read([profile, nothing, numbers('many', 1_234), numbers('none', 0)]);
  expect(file).toMatchObject({
    ...{
      exported_at: '2026-11-15T12:00:00.000Z',
      profile: { id: 'cus_1' },
      webhook: null,
      none: [],
      cut_off: [],
    },
  });
  expect(file.many.map(({ number }: { number: number }) => number)).toEqual([...Array(1_234).keys()]);
  expect(text).not.toContain('hidden');
});

test('[TH-11.31] says which lists were cut off', async () => {
  const { file } = await read([numbers('long', 700), numbers('exact', 600)], 600);
  expect([file.long.length, file.exact.length, file.cut_off]).toEqual([600, 600, ['long']]);
});

test('names of fields are those of the interface', () => {
  expect(shown({ lastUsedAt: null, id: 1, hash: 'x' }, ['lastUsedAt', 'id'])).toEqual({
    last_used_at: null,
    id: 1,
  });
});
