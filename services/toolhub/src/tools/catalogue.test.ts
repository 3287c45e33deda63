import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import type { Connector } from '../connectors/connector.ts';
import { createConnectors } from '../connectors/index.ts';
import { createAccountTools } from './account-tools.ts';
import { compileArguments } from './arguments.ts';
import { createCatalogue } from './catalogue.ts';
import { createToolLists, platformFilter, type Selection, type Switches, type View } from './lists.ts';
import { createSearchTools } from './search-tools.ts';
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
const platformIds = connectors.map(({ id }) => id);
const searchTools = createSearchTools(platformIds);
const catalogue = createCatalogue({ connectors, accountTools, searchTools, internalAccounts: accounts });
const ALL_ON: Switches = { tools: new Set(), platforms: new Set(), key: '' };
const ALL: Selection = { switches: ALL_ON, connected: platformFilter(platformIds) };
const USUAL: View = { platforms: null, mode: 'list' };
const viewOf = (...platforms: string[]): View => ({ platforms: platformFilter(platforms), mode: 'list' });

/** Every tool without its platform's name, with its class. */
const expected: Record<string, string> = {
  email:
    'list_folders:R search_messages:R get_message:R get_attachment:R send_message:W reply_message:W update_flags:I move_messages:I create_draft:W list_threads:R delete_messages:D create_folder:I',
  slack:
    'list_channels:R get_messages:R get_thread:R search_messages:R find_users:R send_message:W add_reaction:I delete_message:D list_received_messages:R',
  discord:
    'get_profile:R list_servers:R list_channels:R get_messages:R list_received_messages:R send_message:W create_thread:W add_reaction:I delete_message:D',
  telegram: 'get_chat:R list_messages:R send_message:W send_media:W edit_message:U delete_message:D',
  whatsapp:
    'list_conversations:R get_messages:R list_templates:R send_message:W send_template:W send_media:W mark_read:I',
  x: 'get_profile:R search_posts:R list_mentions:R get_post:R create_post:W send_direct_message:W delete_post:D',
  linkedin: 'get_profile:R list_comments:R create_post:W create_comment:W delete_post:D',
  facebook:
    'list_pages:R list_posts:R list_comments:R create_post:W reply_comment:W send_message:W delete_post:D',
  instagram: 'get_profile:R list_media:R list_comments:R publish_media:W reply_comment:W send_message:W',
  bluesky:
    'get_profile:R get_timeline:R search_posts:R get_thread:R list_notifications:R create_post:W like_post:I delete_post:D',
  mastodon:
    'get_timeline:R search:R get_thread:R list_notifications:R create_status:W favourite_status:I delete_status:D',
};

describe('the catalogue of the real platforms', () => {
  test.each(Object.entries(expected))('[TH-6.8] %s has its tools', (platform, tools) => {
    const has = catalogue.tools.filter((tool) => tool.platform === platform);
    const wanted = tools.split(' ').map((tool) => `${platform}_${tool}`);
    expect(has.map((tool) => `${tool.name}:${tool.class}`).toSorted()).toEqual(wanted.toSorted());
  });

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

  const namesOf = ({ tools }: { tools: readonly { name: string }[] }) => tools.map(({ name }) => name);

  test('[TH-5.6] are made once per selection and shared', () => {
    expect(lists.forCustomer(ALL, USUAL)).toBe(lists.forCustomer({ ...ALL }, { ...USUAL }));
    expect(lists.forInternal(USUAL)).toBe(lists.forInternal({ ...USUAL }));
    expect(lists.forCustomer(ALL, viewOf('telegram', 'email'))).toBe(
      lists.forCustomer(ALL, viewOf('email', 'telegram', 'email')),
    );
  });

  test('[TH-5.6] are the JSON of their tools, in a stable order', () => {
    const list = lists.forCustomer(ALL, USUAL);
    expect(JSON.parse(list.json)).toEqual(list.tools);
    expect(namesOf(list)).toEqual(catalogue.tools.map(({ name }) => name));
  });

  test('leave out what is switched off, but never the tools of no platform', () => {
    const switches: Switches = {
      tools: new Set(['telegram_get_chat', 'accounts_list']),
      platforms: new Set(['email']),
      key: 'x',
    };
    const list = lists.forCustomer({ ...ALL, switches }, USUAL);
    const isOff = (name: string) => name.startsWith('email_') || name === 'telegram_get_chat';
    expect(namesOf(list)).toEqual(catalogue.tools.map(({ name }) => name).filter((name) => !isOff(name)));
    expect(catalogue.tools.filter(({ name }) => list.has(name) === isOff(name))).toEqual([]);
  });

  test('[TH-11.2] show the connected platforms, while all others can be called, too', () => {
    const selection = { ...ALL, connected: platformFilter(['slack']) };
    const list = lists.forCustomer(selection, USUAL);
    expect([...new Set(namesOf(list).map((name) => name.split('_')[0]))]).toEqual(['accounts', 'slack']);
    expect(list.has('telegram_get_chat')).toBe(true);
    expect(namesOf(lists.forCustomer(selection, viewOf('telegram')))).toContain('telegram_get_chat');
    expect(lists.forCustomer(selection, viewOf('telegram')).has('slack_send_message')).toBe(false);
  });

  test('[TH-11.3] of a search have the two tools of it and accounts_*', () => {
    const list = lists.forCustomer(ALL, { ...USUAL, mode: 'search' });
    expect(namesOf(list)).toEqual(['accounts_list', 'accounts_check_health', 'tools_search', 'tools_call']);
    expect(JSON.parse(list.json)).toEqual(list.tools);
    expect(list.reaches('slack_send_message')).toBe(true);
    expect(list.reaches('tools_call')).toBe(false);
    expect(lists.forCustomer(ALL, USUAL).has('tools_search')).toBe(false);
  });

  test('of an internal session have the configured platforms alone', () => {
    const { tools } = lists.forInternal(USUAL);
    expect([...new Set(tools.map(({ name }) => name.split('_')[0]))]).toEqual(['accounts', 'telegram']);
    const search = lists.forInternal({ ...USUAL, mode: 'search' });
    const [found] = search.search({ query: 'telegram_send_message', limit: 1 });
    expect(found?.inputSchema.properties.account).toMatchObject({ enum: ['first', 'second'] });
    expect(search.search({ query: 'slack', limit: 100 })).toEqual([]);
  });

  test('hold no more than their number of selections', () => {
    const at = (n: number) => lists.forCustomer({ ...ALL, switches: { ...ALL_ON, key: `n${n}` } }, USUAL);
    const first = at(0);
    for (let n = 1; n <= 200; n += 1) at(n);
    expect(at(0)).not.toBe(first);
  });
});

describe('[TH-11.3] search', () => {
  const list = createToolLists(catalogue).forCustomer(
    { ...ALL, connected: platformFilter(['slack']) },
    { ...USUAL, mode: 'search' },
  );
  const find = (query: string, more: { platform?: string; limit?: number } = {}) =>
    list.search({ query, limit: 5, ...more }).map(({ name }) => name);

  const wanted: [string, string][] = [
    ['send an e-mail', 'email_send_message'],
    ['email_get_message', 'email_get_message'],
    ['post a tweet', 'x_create_post'],
    ['delete mastodon status', 'mastodon_delete_status'],
    ['send slack message', 'slack_send_message'],
    ['whatsapp templates', 'whatsapp_list_templates'],
    ['LIST discord SERVERS', 'discord_list_servers'],
    ['bluesky timelin', 'bluesky_get_timeline'],
    ['instagram publish photo', 'instagram_publish_media'],
    ['linkedin comment', 'linkedin_create_comment'],
    ['facebook pages', 'facebook_list_pages'],
    ['which accounts are connected', 'accounts_list'],
  ];
  test.each(wanted)('%s: %s is among the first', (query, name) => {
    expect(find(query, { limit: 3 })).toContain(name);
  });

  test('every tool is found first by its own name', () => {
    for (const { name } of catalogue.tools) expect(find(name)[0]).toBe(name);
  });

  test('equals of connected platforms come first, and platform and limit narrow', () => {
    expect(find('send a message')[0]).toBe('slack_send_message');
    expect(find('send a message', { platform: 'telegram' })).toContain('telegram_send_message');
    expect(
      find('message', { platform: 'telegram', limit: 100 }).every((n) => n.startsWith('telegram_')),
    ).toBe(true);
    expect(find('message', { limit: 2 })).toHaveLength(2);
  });

  test.each(['???', 'zzzz', 'constructor', '__proto__', 'тест', '\u0000', 'x'.repeat(500), 'a '.repeat(250)])(
    '%j finds nothing and breaks nothing',
    (query) => expect(find(query)).toEqual([]),
  );
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
    expect((user + system) / 1_000).toBeLessThan(1_000);
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
