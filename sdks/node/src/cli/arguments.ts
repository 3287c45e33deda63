import { type Option, UsageError, type Values } from './command.ts';

type Options = Readonly<Record<string, Option>>;

export interface Arguments {
  values: Values;
  positionals: string[];
}

/** What was typed behind a command. Node reads it by itself (`parseArgs`) from 18.3 on only, and 18.0 is to do. */
export function readArguments(words: readonly string[], options: Options): Arguments {
  const values: Values = {};
  const positionals: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') positionals.push(...rest.splice(0));
    else if (isOption(word)) readOption(word, rest, options, values);
    else positionals.push(word);
  }
  return { values, positionals };
}

/** A dash by itself is a word as any other. */
function isOption(word: string): boolean {
  return word.length > 1 && word.startsWith('-');
}

function readOption(word: string, rest: string[], options: Options, values: Values): void {
  const [, typed, given] = /^([^=]*)(?:=(.*))?$/s.exec(word) as unknown as [string, string, string?];
  const found = Object.entries(options).find(
    ([name, { short }]) => typed === `--${name}` || (short !== undefined && typed === `-${short}`),
  );
  if (found === undefined) throw new UsageError(`Unknown option '${typed}'`);
  const [name, { type, multiple }] = found;
  if (type === 'boolean') {
    if (given !== undefined) throw new UsageError(`--${name} takes no value`);
    values[name] = true;
    return;
  }
  const value = given ?? valueBehind(name, rest);
  values[name] = multiple ? [...((values[name] as string[] | undefined) ?? []), value] : value;
}

/** What begins with a dash is rather the next option, whose value was forgotten. */
function valueBehind(name: string, rest: string[]): string {
  const value = rest.shift();
  if (value === undefined) throw new UsageError(`--${name} needs a value`);
  if (!isOption(value)) return value;
  throw new UsageError(`--${name} needs a value; one that begins with a dash is given as --${name}=${value}`);
}
