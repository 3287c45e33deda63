import type { Payments } from '../client.ts';

export interface Option {
  type: 'string' | 'boolean';
  /** May be given several times. */
  multiple?: boolean;
  /** One letter that stands for it. */
  short?: string;
  /** What stands for its value in the help: `--limit <number>`. */
  value?: string;
  help: string;
  /** What the shell offers after it. */
  choices?: readonly string[];
}

export type Values = Record<string, string | boolean | string[] | undefined>;

/** The world outside, so that a command can be run by a test as well as by a terminal. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  stdin: NodeJS.ReadStream;
  out(line: string): void;
  err(line: string): void;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

export interface Connection {
  apiKey: string;
  baseUrl: string | undefined;
}

export interface Context extends Terminal {
  values: Values;
  positionals: string[];
  json: boolean;
  connection(): Connection;
  /** Made at the first call: `completion` and `--help` need no key. */
  client(): Payments;
}

export interface Command {
  /** `['payments', 'create']` */
  words: readonly string[];
  summary: string;
  /** In the order in which they are given. */
  positionals: readonly string[];
  /** One more, which may be left out. */
  optional?: string;
  options: Readonly<Record<string, Option>>;
  /** Answers with an exit code where it is not 0. */
  run(context: Context): Promise<number | undefined>;
}

/** What was typed cannot be meant; the message says what can. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/** The command takes test keys only. */
export class LiveKeyError extends UsageError {
  override readonly name = 'LiveKeyError';
}

export function textValue(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function requiredText(values: Values, name: string): string {
  const value = textValue(values, name);
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing`);
  return value;
}

export function wholeNumber(values: Values, name: string, { least, most }: { least: number; most: number }) {
  const text = textValue(values, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** `key=value`, as often as it was given. */
export function pairs(values: Values, name: string): Record<string, string> | undefined {
  const given = values[name];
  if (!Array.isArray(given)) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new UsageError(`--${name} is given as key=value`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
