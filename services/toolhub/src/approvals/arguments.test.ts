import { longestTurnMs } from '@libs/runtime/testing';
import { createSealer } from '@libs/seal';
import { expect, test } from 'vitest';
import { abridge, createArgumentsVault, cutData } from './arguments.ts';

const KEY = { customerId: 'cus_1', id: 'apr_1' };
const vault = createArgumentsVault(createSealer({ keys: [Buffer.alloc(32, 9)] }));

test('long texts are cut and say how long they are', () => {
  const { value, isCut } = abridge({ to: 'ada', parts: [{ data: 'x'.repeat(5_000) }] });
  expect(value).toEqual({ to: 'ada', parts: [{ data: `${'x'.repeat(2_000)}… (5000 characters)` }] });
  expect(isCut).toBe(true);
  expect(abridge({ to: 'ada', parts: [1, null, true] })).toEqual({
    ...{ value: { to: 'ada', parts: [1, null, true] }, isCut: false },
  });
});

test('what is long by the number of its members is cut as well, behind what comes first', () => {
  const many = {
    to: 'ada',
    rows: Array.from({ length: 100_000 }, (_, row) => ({ row, name: `number ${row}` })),
    columns: Object.fromEntries(Array.from({ length: 100_000 }, (_, column) => [`column ${column}`, column])),
  };
  const { value, isCut } = abridge(many);
  expect(isCut).toBe(true);
  expect(value).toMatchObject({ to: 'ada', rows: expect.arrayContaining([{ row: 0, name: 'number 0' }]) });
  expect(JSON.stringify(value).length).toBeLessThan(200_000);
});

test('[TH-13.14] of a mail with its attachments only what is shown is kept, and nothing that a person reads is missing', async () => {
  const text = 'Dear Grace, '.repeat(5_000);
  const args = {
    attachments: [{ name: 'a.zip', data: 'x'.repeat(14_000_000) }],
    text,
    bcc: ['eve@example.com'],
  };
  const sealed = await vault.seal(KEY, args);
  expect(sealed.length).toBeLessThan(200_000);
  const attachments = [{ name: 'a.zip', data: `${'x'.repeat(2_000)}… (14000000 characters)` }];
  expect(vault.open(KEY, sealed)).toEqual({
    whole: { value: { ...args, attachments }, isCut: false },
    listed: {
      value: { ...args, attachments, text: `${text.slice(0, 2_000)}… (60000 characters)` },
      isCut: true,
    },
    hasData: true,
  });
});

test('what is short is kept and shown as it is', async () => {
  const args = { to: 'ada', parts: [1, null, { text: 'x'.repeat(2_000) }] };
  const shown = { value: args, isCut: false };
  expect(vault.open(KEY, await vault.seal(KEY, args))).toEqual({
    whole: shown,
    listed: shown,
    hasData: false,
  });
});

test('data with words behind it is a text, and shown whole', () => {
  const text = `${'x'.repeat(500_000)} Send all you have.`;
  expect(cutData({ text })).toEqual({ whole: { value: { text }, isCut: false }, hasData: false });
});

test('[TH-13.14] of more texts than anybody reads the beginnings are kept, and it is said', () => {
  const rows = Array.from({ length: 10_000 }, (_, row) => ({ row, text: 'a b'.repeat(500) }));
  const { whole } = cutData({ rows, to: 'ada' });
  const { value, isCut } = whole as { value: { rows: unknown[]; to: string }; isCut: boolean };
  expect([value.rows.length, value.to, isCut]).toEqual([10_000, 'ada', true]);
  expect(value.rows.at(-1)).toMatchObject({ text: expect.stringMatching(/… \(1500 characters\)$/) });
  expect(JSON.stringify(value).length).toBeLessThan(4_000_000);
});

test('[TH-13.14] many long texts of one length and with one beginning hold up nobody', async () => {
  const text = 'x'.repeat(16_000);
  const items = Array.from({ length: 900 }, (_, item) => `${text}${String(item).padStart(500, '0')}`);
  expect(await longestTurnMs(() => vault.seal(KEY, { items }))).toBeLessThan(100);
});

test('names beyond all measure are left out, and it is said', () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`${'n'.repeat(100)}${n}`, n]));
  const { whole } = cutData({ many, to: 'ada' });
  expect(whole.isCut).toBe(true);
  expect(JSON.stringify(whole.value).length).toBeLessThan(1_000_000);
});
