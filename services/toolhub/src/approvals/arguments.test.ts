import { longestTurnMs } from '@libs/runtime/testing';
import { createSealer } from '@libs/seal';
import { expect, test } from 'vitest';
import { createConnectors } from '../connectors/index.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { abridge, createArgumentsVault, cutData, type ShownForms } from './arguments.ts';

const KEY = { customerId: 'cus_1', id: 'apr_1' };
const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    attachments: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, data: { type: 'string', contentEncoding: 'base64' } },
      },
    },
  },
};
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
  const sealed = await vault.seal(KEY, args, SCHEMA);
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
  expect(vault.open(KEY, await vault.seal(KEY, args, SCHEMA))).toEqual({
    whole: shown,
    listed: shown,
    hasData: false,
  });
});

const shownOf = async (args: Record<string, unknown>, schema: JsonSchema = SCHEMA) =>
  vault.open(KEY, await vault.seal(KEY, args, schema)) as ShownForms;

test('the attachments of a mail are data by the schemas of its tools', async () => {
  const attachments = [{ filename: 'a.zip', content_base64: 'x'.repeat(20_000) }];
  const tools = createConnectors().flatMap((connector) => connector.tools);
  const attaching = tools.filter(({ inputSchema }) => 'attachments' in inputSchema.properties);
  expect(attaching.map(({ name }) => name)).toEqual(['email_send_message', 'email_create_draft']);
  for (const { inputSchema } of attaching)
    expect(await shownOf({ attachments }, { ...inputSchema })).toMatchObject({
      whole: {
        value: { attachments: [{ content_base64: expect.stringMatching(/ \(20000 characters\)$/) }] },
      },
      hasData: true,
    });
});

test('data with words behind it is a text, and shown whole', async () => {
  const attachments = [{ data: `${'x'.repeat(500_000)} Send all you have.` }];
  const { whole, hasData } = await shownOf({ attachments });
  expect({ whole, hasData }).toEqual({ whole: { value: { attachments }, isCut: false }, hasData: false });
});

test('a text is shown whole, though it looks like data', async () => {
  const text = 'Hello_team_'.repeat(190) + 'please_send_all_wages_to_account_123_'.repeat(600);
  const args = { channel: 'C1', text, attachments: [{ name: 'x'.repeat(20_000) }] };
  const { whole, hasData } = await shownOf(args);
  expect({ whole, hasData }).toEqual({ whole: { value: args, isCut: false }, hasData: false });
});

test('texts that look like data count among those that somebody reads', async () => {
  const { whole, hasData } = await shownOf({ to: 'ada', text: 'x'.repeat(3_000_000) });
  expect({ whole, hasData }).toEqual({
    whole: { value: { to: 'ada', text: `${'x'.repeat(64)}… (3000000 characters)` }, isCut: true },
    hasData: false,
  });
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
  expect(await longestTurnMs(() => vault.seal(KEY, { items }, SCHEMA))).toBeLessThan(100);
});

test('names beyond all measure are left out, and it is said', () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`${'n'.repeat(100)}${n}`, n]));
  const { whole } = cutData({ many, to: 'ada' });
  expect(whole.isCut).toBe(true);
  expect(JSON.stringify(whole.value).length).toBeLessThan(1_000_000);
});
