import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import type { Connector } from '../connectors/connector.ts';
import { createConnectors } from '../connectors/index.ts';
import { createAccountTools } from './account-tools.ts';
import { compileArguments } from './arguments.ts';
import { createCatalogue } from './catalogue.ts';
import { createToolLists, platformFilter, type Switches } from './lists.ts';
import type { ObjectSchema } from './tool.ts';

const connectors = createConnectors();
const accounts = (platform: string) => (platform === 'telegram' ? ['first', 'second'] : []);
const nothing = () => Promise.reject(new Error('not called'));
const accountTools = createAccountTools({
  connectors: { connectors, find: () => undefined, context: nothing as never },
  credentials: { list: nothing, open: nothing, internalAccounts: { names: accounts, find: () => undefined } },
  health: { forCustomer: nothing },
  now: () => new Date(),
});
const catalogue = createCatalogue({ connectors, accountTools, internalAccounts: accounts });
const ALL_ON: Switches = { tools: new Set(), platforms: new Set(), key: '' };

describe('the catalogue of the real platforms', () => {
  test('has every tool once, first those of no platform, then in the order of the platforms', () => {
    const names = catalogue.tools.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['accounts_list', 'accounts_check_health']);
    expect(new Set(names).size).toBe(names.length);
    const platforms = catalogue.tools.slice(2).map(({ platform }) => platform);
    const withTools = connectors.filter(({ tools }) => tools.length > 0);
    expect([...new Set(platforms)]).toEqual(withTools.map(({ id }) => id));
  });

  test.each(catalogue.tools.map((tool) => [tool.name, tool] as const))(
    '%s is complete',
    (_name, { wire, platform }) => {
      expect(wire.title.length).toBeGreaterThan(0);
      expect(wire.description.length).toBeGreaterThan(0);
      expect(wire.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(wire.outputSchema.type).toBe('object');
      expect(wire.annotations.openWorldHint).toBe(platform !== null);
      // Clients compile these; whatever is wrong with one shows here and not at a customer's.
      expect(Compile(wire.outputSchema as never).Check({ error: { code: 'x', message: 'y' } })).toBe(true);
      expect(() => compileArguments(wire.inputSchema)).not.toThrow();
      for (const property of Object.values(wire.inputSchema.properties))
        expect(Object.keys(property).length).toBeGreaterThan(0);
    },
  );
});

test('wrong names and double names stop the start', () => {
  const tool = accountTools[0];
  if (tool === undefined) throw new Error('there is one');
  const build = (name: string, times = 1) =>
    createCatalogue({
      connectors: [],
      accountTools: Array(times).fill({ ...tool, name }),
      internalAccounts: accounts,
    });
  expect(() => build('accounts_list', 2)).toThrow(/same name/);
  for (const name of ['list', 'Accounts_list', 'other_list', 'accounts_', 'accounts_list things'])
    expect(() => build(name)).toThrow(/not a name/);
});

describe('lists', () => {
  const lists = createToolLists(catalogue);

  test('[TH-5.6] are made once per selection and shared', () => {
    expect(lists.forCustomer(ALL_ON, null)).toBe(lists.forCustomer({ ...ALL_ON }, null));
    expect(lists.forInternal(null)).toBe(lists.forInternal(null));
    expect(lists.forCustomer(ALL_ON, platformFilter(['telegram', 'email']))).toBe(
      lists.forCustomer(ALL_ON, platformFilter(['email', 'telegram', 'email'])),
    );
  });

  test('[TH-5.6] are the JSON of their tools, in a stable order', () => {
    const list = lists.forCustomer(ALL_ON, null);
    expect(JSON.parse(list.json)).toEqual(list.tools);
    expect(list.tools.map(({ name }) => name)).toEqual(catalogue.tools.map(({ name }) => name));
  });

  test('leave out what is switched off, but never the tools of no platform', () => {
    const off: Switches = {
      tools: new Set(['telegram_get_chat', 'accounts_list']),
      platforms: new Set(['email']),
      key: 'x',
    };
    const names = lists.forCustomer(off, null).tools.map(({ name }) => name);
    expect(names).toEqual(
      catalogue.tools
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('email_') && name !== 'telegram_get_chat'),
    );
  });

  test('of an internal session have the configured platforms alone', () => {
    const { tools } = lists.forInternal(null);
    expect([...new Set(tools.map(({ name }) => name.split('_')[0]))]).toEqual(['accounts', 'telegram']);
  });

  test('hold no more than their number of selections', () => {
    const first = lists.forCustomer({ ...ALL_ON, key: 'n0' }, null);
    for (let n = 1; n <= 200; n += 1) lists.forCustomer({ ...ALL_ON, key: `n${n}` }, null);
    expect(lists.forCustomer({ ...ALL_ON, key: 'n0' }, null)).not.toBe(first);
  });
});

describe('arguments', () => {
  const schema: ObjectSchema = JSON.parse(
    JSON.stringify(
      Type.Object(
        {
          to: Type.Array(Type.String({ format: 'email' }), { minItems: 1, maxItems: 3 }),
          mode: Type.Optional(Type.Union([Type.Literal('html'), Type.Literal('plain')])),
          size: Type.Optional(Type.Integer({ minimum: 1, maximum: 9, default: 4 })),
          inner: Type.Optional(Type.Object({ key: Type.String() }, { additionalProperties: false })),
        },
        { additionalProperties: false },
      ),
    ),
  );
  const check = compileArguments(schema);

  test('defaults are filled in, and the caller’s object stays as it was', () => {
    const args = { to: ['a@example.com'] };
    expect(check(args)).toEqual({ kind: 'valid', values: { to: ['a@example.com'], size: 4 } });
    expect(args).toEqual({ to: ['a@example.com'] });
  });

  const cases: [Record<string, unknown>, [string, string][]][] = [
    [{}, [['/to', 'required']]],
    [{ to: [] }, [['/to', 'too_few_items']]],
    [{ to: ['a@example.com', 7] }, [['/to/1', 'wrong_type']]],
    [{ to: ['nobody'] }, [['/to/0', 'invalid_format']]],
    [{ to: ['a@example.com'], mode: 'pdf' }, [['/mode', 'not_allowed']]],
    [{ to: ['a@example.com'], size: 10 }, [['/size', 'too_large']]],
    [
      { to: ['a@example.com'], inner: { 'k/e~y': 1 } },
      [
        ['/inner/k~1e~0y', 'unknown_field'],
        ['/inner/key', 'required'],
      ],
    ],
    [{ to: ['a@example.com'], toString: 1 }, [['/toString', 'unknown_field']]],
  ];
  test.each(cases)('%j', (args, expected) => {
    const checked = check(args);
    if (checked.kind === 'valid') throw new Error('should not fit');
    expect(checked.faults.map(({ pointer, code }) => [pointer, code]).sort()).toEqual(expected.toSorted());
    for (const { detail } of checked.faults) expect(detail).toMatch(/^(Must|This) .*\.$/);
  });

  test('the largest value that the parser lets in is explained in little time', () => {
    const started = process.cpuUsage();
    const checked = check({
      to: Array.from({ length: 10_000 }, () => 1),
      more: Array(9_000).fill({}),
    });
    const { user, system } = process.cpuUsage(started);
    expect(checked.kind).toBe('invalid');
    expect((user + system) / 1_000).toBeLessThan(200);
  });
});

test('connectors without tools are fine', () => {
  const empty = { id: 'empty', title: 'Empty', tools: [] } satisfies Pick<
    Connector,
    'id' | 'title' | 'tools'
  >;
  expect(
    createCatalogue({ connectors: [empty], accountTools: [], internalAccounts: accounts }).tools,
  ).toEqual([]);
});
