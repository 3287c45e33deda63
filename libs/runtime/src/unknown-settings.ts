import type { Env } from './settings.ts';

export interface OwnSettings {
  /** What the names of the service's settings begin with, such as `PAYMENTS_`. */
  readonly prefix: string;
  /** Every name that is read, also those that the service reads in a way of its own. */
  readonly names: Iterable<string>;
  /** What has the prefix and belongs to somebody else: a client, or whoever starts the service. */
  readonly others?: readonly string[];
}

/** More of them would only fill the log. */
const TOLD_MAX = 20;
const LONGEST_NAME = 100;
/** So many letters may be wrong in a name that has the prefix, of all behind it. */
const WRONG_SHARE = 1 / 3;
/** Shorter names without the prefix are alike by chance. */
const SHORTEST_WITHOUT_PREFIX = 8;

/** What Kubernetes and the links of Docker say in the environment about a service of our name. */
const LINKS = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const LINK_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/**
 * A line for each variable that looks like a setting of the service and is none: a misspelled one is as good as not set, and the
 * default of most works without a word. Not a reason to refuse the start: older and newer versions share an environment.
 */
export function unknownSettings(env: Env, { prefix, names, others = [] }: OwnSettings): string[] {
  const known = [...names];
  const expected = new Set([...known, ...others]);
  const unset = known.filter((name) => (env[name] ?? '').trim() === '');
  const lines = Object.entries(env).flatMap(([name, value = '']) => {
    if (expected.has(name) || value.trim() === '' || name.length > LONGEST_NAME) return [];
    if (!name.toUpperCase().startsWith(prefix)) {
      const meant = name.length < SHORTEST_WITHOUT_PREFIX ? undefined : nearest(name, unset, 1);
      return meant === undefined ? [] : [`${name} is no setting; ${meant} is, and is not set`];
    }
    if (LINKS.test(name) || LINK_ADDRESS.test(value)) return [];
    const meant = nearest(name, known, Math.floor((name.length - prefix.length) * WRONG_SHARE));
    return [`${name} is no setting${meant === undefined ? '' : `: is ${meant} meant?`}`];
  });
  return lines.slice(0, TOLD_MAX);
}

function nearest(name: string, known: readonly string[], wrongMax: number): string | undefined {
  const [first] = known
    .map((candidate) => ({ candidate, wrong: lettersWrong(name.toUpperCase(), candidate) }))
    .filter(({ wrong }) => wrong <= Math.max(1, wrongMax))
    .sort((a, b) => a.wrong - b.wrong);
  return first?.candidate;
}

/** How many letters are missing, too many, another, or have changed places with the next one. */
function lettersWrong(given: string, meant: string): number {
  let [beforeLast, last]: number[][] = [[], Array.from({ length: meant.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= given.length; row++) {
    const current = [row];
    for (let column = 1; column <= meant.length; column++) {
      const isSame = given[row - 1] === meant[column - 1];
      const isSwapped = given[row - 1] === meant[column - 2] && given[row - 2] === meant[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        row > 1 && column > 1 && isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, meant.length);
}

function at(row: readonly number[] | undefined, column: number): number {
  return row?.[column] ?? Number.POSITIVE_INFINITY;
}
