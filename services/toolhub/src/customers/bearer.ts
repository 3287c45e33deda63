import { hashToken } from '@libs/seal';
import { LRUCache } from 'lru-cache';
import { type BearerResolver, type InternalSession, SCOPES, type Session } from './identity.ts';
import type { Revocation } from './revocation.ts';
import type { Revocations } from './revocations.ts';

/** What a kind of token gives; `family` names the consent that it came from. */
export interface ResolvedToken {
  session: Session;
  expiresAt: Date | null;
  family: string | null;
}

/** Where tokens of one prefix are looked up. */
export interface TokenSource {
  prefix: string;
  find(tokenHash: Buffer, now: Date): Promise<ResolvedToken | undefined>;
}

export interface BearerDependencies {
  revocations: Pick<Revocations, 'subscribe'>;
  sources: readonly TokenSource[];
  internalTokens: readonly { name: string; token: string }[];
  now: () => Date;
}

export const CACHE_MS_MAX = 60_000;
export const CACHE_ENTRIES_MAX = 10_000;
const TOKEN_CHARACTERS_MAX = 512;

interface Entry extends ResolvedToken {
  cachedUntilMs: number;
}

/** Internal sessions use every tool and have no account to look at. */
const INTERNAL_SCOPES = SCOPES.filter((scope) => scope.startsWith('tools:'));

/**
 * Token → session, from memory when it was asked within the last minute. Every process listens for revocations, so a
 * token that one process revokes is forgotten by all; a process that lost its connection forgets everything.
 *
 * The memory is keyed by the token itself, because hashing it would cost more than all the rest of a warm look-up.
 * That gives nothing away: the header of every request holds the token in this same memory, it is written nowhere,
 * and only tokens that were found get in. A Map compares two strings only when their seeded hashes are equal, so how
 * long a wrong guess takes tells nothing about a right one.
 */
export function createBearerResolver(deps: BearerDependencies): BearerResolver {
  const { sources, now } = deps;
  const cache = new LRUCache<string, Entry>({ max: CACHE_ENTRIES_MAX });
  const lookups = new Map<string, Promise<Session | null>>();
  // The operator chose these, and may have chosen them badly: they are compared by hash.
  const internal = new Map(
    deps.internalTokens.map(({ name, token }): [string, InternalSession] => [
      keyOf(hashToken(token)),
      { kind: 'internal', name, scopes: INTERNAL_SCOPES },
    ]),
  );
  // Counts revocations: an answer that was read before one of them came in may be out of date, and is not kept.
  let revocations = 0;

  /** Look-ups under way may have read the old state: whoever asks from now on starts a new one. */
  function distrust(): void {
    revocations += 1;
    lookups.clear();
  }

  function forget(revocation: Revocation): void {
    distrust();
    const isGone = ({ session, family }: Entry) =>
      'tokenId' in revocation ? session.tokenId === revocation.tokenId : family === revocation.family;
    const gone = [...cache.entries()].filter(([, entry]) => isGone(entry));
    for (const [token] of gone) cache.delete(token);
  }

  function forgetAll(): void {
    distrust();
    cache.clear();
  }

  function keep(token: string, found: ResolvedToken, nowMs: number): void {
    const untilMs = Math.min(nowMs + CACHE_MS_MAX, found.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
    cache.set(copyOf(token), { ...found, cachedUntilMs: untilMs });
  }

  async function lookUp(token: string, source: TokenSource): Promise<Session | null> {
    const before = revocations;
    const at = now();
    const found = await source.find(hashToken(token), at);
    if (found === undefined) return null;
    if (before === revocations) keep(token, found, at.getTime());
    return found.session;
  }

  function fromCache(token: string): Session | undefined {
    const entry = cache.get(token);
    if (entry === undefined) return undefined;
    if (entry.cachedUntilMs > now().getTime()) return entry.session;
    cache.delete(token);
    return undefined;
  }

  deps.revocations.subscribe({ forget, forgetAll });

  return (token) => {
    if (token.length > TOKEN_CHARACTERS_MAX) return null;
    const cached = fromCache(token);
    if (cached !== undefined) return cached;
    const source = sources.find(({ prefix }) => token.startsWith(prefix));
    if (source === undefined) return internal.get(keyOf(hashToken(token))) ?? null;
    // Calls that arrive together share one look-up.
    const shared = lookups.get(token);
    if (shared !== undefined) return shared;
    const lookup = lookUp(token, source).finally(() => {
      if (lookups.get(token) === lookup) lookups.delete(token);
    });
    lookups.set(token, lookup);
    return lookup;
  };
}

/** A token that was cut out of a header would hold on to the whole header for as long as it is remembered. */
function copyOf(token: string): string {
  return Buffer.from(token, 'utf8').toString('utf8');
}

function keyOf(hash: Buffer): string {
  return hash.toString('latin1');
}
