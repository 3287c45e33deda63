import { lookup, Resolver } from 'node:dns/promises';
import { isLocalhostName } from './host.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Gives all addresses of a name; an empty list or an error means that it has none now. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;
const SYSTEM_LOOKUPS_MAX = 2;
const SYSTEM_LOOKUPS_WAITING_MAX = 100;

const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

// A definite answer that the name server has nothing, or that there is no name server at all.
const NOTHING_FOUND = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ECONNREFUSED', 'EBADNAME']);

/**
 * The system's own lookup knows the hosts file and search domains, but each call holds one of libuv's four threads for
 * as long as a name server likes. So it serves only names that DNS does not know, two at a time.
 */
export function limitLookups(look: ResolveHost): ResolveHost {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (host) => {
    if (running < SYSTEM_LOOKUPS_MAX) running += 1;
    else {
      if (waiting.length >= SYSTEM_LOOKUPS_WAITING_MAX) throw new Error(`too many lookups wait: ${host}`);
      await new Promise<void>((resume) => waiting.push(resume));
    }
    try {
      return await look(host);
    } finally {
      // Who waits takes over the place: given back first, somebody who comes in that moment would take it as well.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

const lookupLimited = limitLookups(async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
});

function isNothingFound(result: PromiseSettledResult<string[]>): boolean {
  return (
    result.status === 'rejected' && NOTHING_FOUND.has((result.reason as NodeJS.ErrnoException).code ?? '')
  );
}

/** Names that a slow name server serves cost a bounded wait and no thread, so they delay nobody else. */
export async function resolveWithSystem(host: string): Promise<readonly ResolvedAddress[]> {
  if (isLocalhostName(host)) return LOOPBACK;
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found: ResolvedAddress[] = [];
  if (four.status === 'fulfilled') for (const address of four.value) found.push({ address, family: 4 });
  if (six.status === 'fulfilled') for (const address of six.value) found.push({ address, family: 6 });
  if (found.length > 0) return found;
  if (isNothingFound(four) && isNothingFound(six)) return lookupLimited(host);
  throw four.status === 'rejected' ? four.reason : new Error(`${host} has no address`);
}
