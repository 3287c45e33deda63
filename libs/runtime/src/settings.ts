import { readFileSync } from 'node:fs';
import { readHost, readHostPorts, readOrigin, readProxies, readUrl } from './address-settings.ts';
import {
  type CertificatesFile,
  type PrivateKeyFile,
  readCertificates,
  readPathOfFile,
  readPrivateKey,
  unreadable,
} from './file-settings.ts';
import { type NamedToken, readBearer, readKeys, readNamedTokens } from './secret-settings.ts';
import type { SettingReader } from './setting-reader.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export type Setting<T> = {
  /** The variable, or several of which the first that is set counts. */
  names: readonly [string, ...string[]];
  read: SettingReader<T>;
  /** Present when the variable may be missing. */
  fallback: { value: T } | undefined;
};

export type SettingsSpec = Readonly<Record<string, Setting<unknown>>>;
export type Settings<Spec extends SettingsSpec> = {
  readonly [Name in keyof Spec]: Spec[Name] extends Setting<infer T> ? T : never;
};

/** Everything that is wrong with the environment, in one message. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`bad settings: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

type Names = string | readonly [string, ...string[]];

function setting<T>(names: Names, read: SettingReader<T>, fallback?: { value: T }): Setting<T> {
  return { names: typeof names === 'string' ? [names] : names, read, fallback };
}

/**
 * Reads all variables before it complains, so that one failed start shows every mistake. Empty counts as unset.
 * `conflictsOf` says what the values do not allow together; it sees those that are wrong as unset, and what it says of
 * them is left out.
 */
export function loadSettings<const Spec extends SettingsSpec>(
  env: Env,
  spec: Spec,
  conflictsOf: (values: Settings<Spec>) => readonly string[] = () => [],
): Settings<Spec> {
  const problems: string[] = [];
  const badNames = new Set<string>();
  const values: Record<string, unknown> = {};
  for (const [key, { names, read, fallback }] of Object.entries(spec)) {
    const name = names.find((candidate) => (env[candidate] ?? '').trim() !== '');
    if (name === undefined) {
      if (fallback === undefined) problems.push(`${names.join(' or ')} is missing`);
      else values[key] = fallback.value;
      continue;
    }
    const value = read((env[name] as string).trim());
    // The value itself is never repeated: it may be a secret put into the wrong variable.
    if (value instanceof Error) {
      problems.push(`${name} ${value.message}`);
      for (const wrong of names) badNames.add(wrong);
    } else values[key] = value;
  }
  const conflicts = conflictsOf(values as Settings<Spec>);
  problems.push(...conflicts.filter((text) => !wordsOf(text).some((word) => badNames.has(word))));
  if (problems.length > 0) throw new SettingsError(problems);
  return Object.freeze(values) as Settings<Spec>;
}

function wordsOf(text: string): string[] {
  return text.split(/\W+/);
}

type Maybe<T> = { optional: true } | { default: T };

function fallbackOf<T>(maybe: Maybe<T> | undefined): { value: T | undefined } | undefined {
  if (maybe === undefined) return undefined;
  return 'default' in maybe ? { value: maybe.default } : { value: undefined };
}

/** Each kind of setting: required by default, `{ default }` or `{ optional: true }` otherwise. */
function kind<T, Options extends object = object>(
  reader: (options: Options) => SettingReader<T>,
): {
  (names: Names, options: Options & { default: T }): Setting<T>;
  (names: Names, options: Options & { optional: true }): Setting<T | undefined>;
  (names: Names, options?: Options): Setting<T>;
} {
  return ((names: Names, options: Options & Partial<{ default: T; optional: true }> = {} as Options) => {
    const maybe = 'default' in options || 'optional' in options ? (options as Maybe<T>) : undefined;
    return setting<T | undefined>(names, reader(options), fallbackOf(maybe));
  }) as never;
}

type Range = { min?: number; max?: number };

function readInteger({
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
}: Range): SettingReader<number> {
  return (text) => {
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    if (max === Number.MAX_SAFE_INTEGER) return new Error(`must be an integer of at least ${min}`);
    return new Error(`must be an integer from ${min} to ${max}`);
  };
}

const millisecondsByUnit: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function readDuration({ min = 0, max = Number.MAX_SAFE_INTEGER }: Range): SettingReader<number> {
  return (text) => {
    const [, digits = '', unit = 'ms'] = /^(\d{1,12})(ms|s|m|h|d)?$/.exec(text) ?? [];
    const value = digits === '' ? Number.NaN : Number(digits) * (millisecondsByUnit[unit] as number);
    if (value >= min && value <= max) return value;
    return new Error(
      `must be a duration in milliseconds or with a unit (ms, s, m, h, d), from ${min} to ${max} ms`,
    );
  };
}

function readText({
  minLength = 1,
  maxLength = 4_096,
}: {
  minLength?: number;
  maxLength?: number;
}): SettingReader<string> {
  return (text) => {
    if (text.length >= minLength && text.length <= maxLength) return text;
    return new Error(`must have ${minLength} to ${maxLength} characters`);
  };
}

const MAILBOX = /^(?:[^<>]{0,200}<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

function readMailbox(): SettingReader<string> {
  return (text) =>
    MAILBOX.test(text)
      ? text
      : new Error('must be a mail address, or a name with one: Name <name@example.com>');
}

function readFlag(): SettingReader<boolean> {
  return (text) => {
    if (/^(?:1|true|yes|on)$/i.test(text)) return true;
    if (/^(?:0|false|no|off)$/i.test(text)) return false;
    return new Error('must be true or false');
  };
}

/** What the file holds is checked by the service, within the same message. */
function readJsonFile(): SettingReader<unknown> {
  return (path) => {
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch (error) {
      return error instanceof SyntaxError ? new Error('names a file that is not JSON') : unreadable(error);
    }
  };
}

function choice<const Values extends readonly string[]>(
  names: Names,
  values: Values,
  options?: { default: Values[number] },
): Setting<Values[number]> {
  const read: SettingReader<Values[number]> = (text) =>
    values.includes(text) ? text : new Error(`must be one of ${values.join(', ')}`);
  return setting(names, read, options === undefined ? undefined : { value: options.default });
}

export const settings = {
  text: kind(readText),
  /** An integer within a range. */
  integer: kind(readInteger),
  /** 0 takes any free port. */
  port: kind<number>(() => readInteger({ min: 0, max: 65_535 })),
  host: kind<string>(readHost),
  url: kind(readUrl),
  /** The public address of a service: http(s), and nothing behind the host, since its pages and documents have fixed paths. */
  publicUrl: kind<string>(readOrigin),
  /** Whom a mail is from. */
  mailbox: kind<string>(readMailbox),
  flag: kind<boolean>(readFlag),
  /** Milliseconds; `2000`, `2s`, `15m`. */
  durationMs: kind(readDuration),
  /** 32 bytes in base64 each; the first seals, all open. */
  keys: kind(readKeys),
  hostPorts: kind<readonly string[]>(readHostPorts),
  /** Proxies whose word about who calls is believed. */
  proxies: kind<readonly string[]>(readProxies),
  /** A token that travels in a header; 16 characters or more unless told otherwise. */
  bearer: kind(readBearer),
  namedTokens: kind<readonly NamedToken[]>(readNamedTokens),
  /** The path of a file that can be read and that its user finds nothing wrong with. */
  pathOfFile: kind(readPathOfFile),
  /** A PEM file of one certificate or more, each of which can be read. */
  certificates: kind<CertificatesFile>(readCertificates),
  /** A PEM file with a private key that needs no passphrase. */
  privateKey: kind<PrivateKeyFile>(readPrivateKey),
  /** The content of a JSON file, whatever it is. */
  jsonFile: kind<unknown>(readJsonFile),
  choice,
  /** A reader of the service's own. */
  custom: <T>(names: Names, read: SettingReader<T>, options?: { default: T }): Setting<T> =>
    setting(names, read, options === undefined ? undefined : { value: options.default }),
} as const;
