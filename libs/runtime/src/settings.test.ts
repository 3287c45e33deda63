import { describe, expect, expectTypeOf, test } from 'vitest';
import { loadSettings, SettingsError, settings } from './index.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');

const spec = {
  port: settings.port('APP_PORT', { default: 4000 }),
  host: settings.host('APP_HOST', { default: '127.0.0.1' }),
  publicUrl: settings.publicUrl('APP_PUBLIC_URL', { optional: true }),
  databaseUrl: settings.url(['APP_DATABASE_URL', 'DATABASE_URL'], {
    protocols: ['postgres:', 'postgresql:'],
    optional: true,
  }),
  keys: settings.keys('APP_KEY'),
  role: settings.choice('APP_ROLE', ['api', 'worker', 'all'], { default: 'all' }),
  rate: settings.integer('APP_RATE', { min: 0, max: 1_000, default: 25 }),
  timeoutMs: settings.durationMs('APP_TIMEOUT', { default: 200 }),
  egress: settings.hostPorts('APP_EGRESS', { default: [] }),
  proxies: settings.proxies('APP_PROXIES', { optional: true }),
  tokens: settings.namedTokens('APP_TOKENS', { default: [] }),
  token: settings.text('APP_TOKEN', { minLength: 8, optional: true }),
  debug: settings.flag('APP_DEBUG', { default: false }),
};

describe('loadSettings', () => {
  test('reads every kind', () => {
    const loaded = loadSettings(
      {
        APP_PORT: '0',
        APP_HOST: '::1',
        APP_PUBLIC_URL: 'https://pay.example.com/',
        DATABASE_URL: 'postgres://u:p@h/db',
        APP_KEY: `${key(1)}, ${key(2)}`,
        APP_ROLE: 'api',
        APP_RATE: '0',
        APP_TIMEOUT: '2s',
        APP_EGRESS: 'LocalHost:9000,[::1]:80, 10.0.0.1:443',
        APP_PROXIES: '10.0.0.1, 10.0.0.0/8,fd00::/8, loopback',
        APP_TOKENS: 'ops:1234567890123456,ci:abcdefghijklmnop:x',
        APP_TOKEN: '  a-long-token ',
        APP_DEBUG: 'yes',
      },
      spec,
    );
    expect(loaded).toEqual({
      port: 0,
      host: '::1',
      publicUrl: 'https://pay.example.com',
      databaseUrl: 'postgres://u:p@h/db',
      keys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
      role: 'api',
      rate: 0,
      timeoutMs: 2_000,
      egress: ['localhost:9000', '[::1]:80', '10.0.0.1:443'],
      proxies: ['10.0.0.1', '10.0.0.0/8', 'fd00::/8', 'loopback'],
      tokens: [
        { name: 'ops', token: '1234567890123456' },
        { name: 'ci', token: 'abcdefghijklmnop:x' },
      ],
      token: 'a-long-token',
      debug: true,
    });
    expect(Object.isFrozen(loaded)).toBe(true);
    expectTypeOf(loaded.port).toEqualTypeOf<number>();
    expectTypeOf(loaded.publicUrl).toEqualTypeOf<string | undefined>();
    expectTypeOf(loaded.role).toEqualTypeOf<'api' | 'worker' | 'all'>();
  });

  test('defaults; an empty variable is an unset one; the first name that is set counts', () => {
    const loaded = loadSettings(
      { APP_KEY: key(1), APP_PORT: ' ', APP_DATABASE_URL: 'postgres://a/b', DATABASE_URL: 'x' },
      spec,
    );
    expect(loaded).toMatchObject({
      port: 4000,
      role: 'all',
      rate: 25,
      databaseUrl: 'postgres://a/b',
      egress: [],
    });
    expect(loaded.token).toBeUndefined();
  });

  test('names every bad and missing variable in one message, and repeats no value', () => {
    const bad = {
      APP_PORT: '70000',
      APP_HOST: 'not a host',
      APP_PUBLIC_URL: 'ftp://s3cr3t',
      DATABASE_URL: 'mysql://s3cr3t',
      APP_ROLE: 's3cr3t',
      APP_RATE: '1.5',
      APP_TIMEOUT: 'soon',
      APP_EGRESS: 'host:1,s3cr3t',
      APP_PROXIES: '10.0.0.1,s3cr3t',
      APP_TOKENS: 's3cr3t',
      APP_TOKEN: 's3cr3t',
      APP_DEBUG: 'perhaps',
    };
    let thrown: unknown;
    try {
      loadSettings(bad, spec);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(SettingsError);
    const { message, problems } = thrown as SettingsError;
    for (const name of Object.keys(bad)) expect(message).toContain(name);
    expect(message).toContain('APP_KEY is missing');
    expect(problems).toHaveLength(13);
    expect(message).not.toContain('s3cr3t');
    expect(message).not.toContain('\n');
  });

  test('what the values do not allow together is said in the same message, but not of one that is wrong', () => {
    const conflictsOf = ({ token, tokens }: { token?: string | undefined; tokens: readonly unknown[] }) => [
      ...(token === undefined ? ['APP_TOKEN goes with APP_ROLE'] : []),
      ...(tokens?.length === 0 ? ['APP_TOKENS must not be empty'] : []),
    ];
    const env = { APP_KEY: key(1), APP_TOKEN: 'short' };
    expect(() => loadSettings(env, spec, conflictsOf)).toThrow(
      'bad settings: APP_TOKEN must have 8 to 4096 characters; APP_TOKENS must not be empty',
    );
  });

  test.each([
    ['ada@example.com', true],
    ['Ada Lovelace <ada@example.com>', true],
    ['"Ada, Countess" <ada@localhost>', true],
    ['Ada', false],
    ['Ada <ada>', false],
    ['a b@example.com', false],
    ['ada@example.com, bob@example.com', false],
  ])('whom a mail is from: %s is %s', (value, fits) => {
    const load = () => loadSettings({ FROM: value }, { from: settings.mailbox('FROM') }).from;
    if (fits) expect(load()).toBe(value);
    else expect(load).toThrow(/FROM must be a mail address/);
  });

  test.each([
    'abc',
    Buffer.alloc(31).toString('base64'),
    `${key(1)},short`,
    Buffer.alloc(33).toString('base64'),
  ])('a key that is not 32 bytes is refused: %s', (value) => {
    expect(() => loadSettings({ APP_KEY: value }, { keys: spec.keys })).toThrow(/APP_KEY must be 32 bytes/);
  });

  test('a list of keys that nothing could be sealed with is refused with the other settings', () => {
    const load = (keys: string) => () => loadSettings({ APP_KEY: keys, APP_PORT: 'x' }, spec);
    const unpadded = key(1).replace('=', '');
    expect(load(`${key(1)},${key(2)},${unpadded}`)).toThrow(/APP_PORT.*APP_KEY lists a key twice \(entry 3/);
    const many = Array.from({ length: 17 }, (_, byte) => key(byte)).join();
    expect(load(many)).toThrow(/APP_PORT.*APP_KEY must not list more than 16 keys/);
    expect(load(many.slice(many.indexOf(',') + 1))).not.toThrow(/APP_KEY/);
  });

  test.each(['host', 'host:0', 'host:65536', 'host:x', ':80', 'http://host:80', '::1:80'])(
    'host:port list refuses %s',
    (value) => {
      expect(() => loadSettings({ APP_EGRESS: value }, { egress: spec.egress })).toThrow(/APP_EGRESS/);
    },
  );

  test.each(['proxy', '10.0.0', '10.0.0.0/33', '10.0.0.0/0', '::1/129', '10.0.0.1/8/8', '10.0.0.0/x', ','])(
    'list of proxies refuses %s',
    (value) => {
      expect(() => loadSettings({ APP_PROXIES: value }, { proxies: spec.proxies })).toThrow(/APP_PROXIES/);
    },
  );

  test('two tokens of one name are refused', () => {
    expect(() =>
      loadSettings({ APP_TOKENS: 'a:1234567890123456,a:6543210987654321' }, { tokens: spec.tokens }),
    ).toThrow(/twice/);
  });

  test.each([
    ['sixteen-letters!', true],
    ['fifteen-letters', false],
    ['a token with spaces', false],
    ['a-token-of-the-caf\u00e9', false],
  ])('a token that travels in a header: %s is %s', (value, fits) => {
    const load = () => loadSettings({ TOKEN: value }, { token: settings.bearer('TOKEN') }).token;
    if (fits) expect(load()).toBe(value);
    else expect(load).toThrow(/TOKEN must be 16 or more printable characters without spaces/);
  });

  test('public addresses have nothing behind the host', () => {
    for (const value of ['https://u:p@h', 'https://h?x', 'https://h#x', 'https://h/base', '//h', 'h']) {
      expect(() => loadSettings({ APP_PUBLIC_URL: value }, { url: spec.publicUrl })).toThrow(
        /APP_PUBLIC_URL/,
      );
    }
  });

  test('a reader of the service itself', () => {
    const even = settings.custom('APP_EVEN', (text) =>
      Number(text) % 2 === 0 ? Number(text) : new Error('must be even'),
    );
    expect(loadSettings({ APP_EVEN: '4' }, { even }).even).toBe(4);
    expect(() => loadSettings({ APP_EVEN: '3' }, { even })).toThrow('APP_EVEN must be even');
  });
});
