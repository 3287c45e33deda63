import { hashToken } from '@libs/seal';
import { type BearerResolver, type InternalSession, SCOPES, type Session } from './identity.ts';
import type { Revocation, Revocations } from './revocations.ts';

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

export interface BearerDeps {
  revocations: Pick<Revocations, 'subscribe'>;
  sources: readonly TokenSource[];
  internalTokens: readonly { name: string; token: string }[];
  now: () => Date;
}

export const CACHE_MS_MAX = 60_000;
const CACHE_ENTRIES_MAX = 10_000;
const TOKEN_CHARACTERS_MAX = 512;

interface Entry extends ResolvedToken {
  cachedUntilMs: number;
}

/** Internal sessions use every tool and have no account to look at. */
const INTERNAL_SCOPES = SCOPES.filter((scope) => scope.startsWith('tools:'));

/**
 * Token → session, from memory when it was asked within the last minute. Every process listens for revocations, so a
 * token that one process revokes is forgotten by all; a process that lost its connection forgets everything.
 */
export function createBearerResolver(deps: BearerDeps): BearerResolver {
  const { sources, now } = deps;
  const cache = new Map<string, Entry>();
  const lookups = new Map<string, Promise<Session | null>>();
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
    for (const [key, entry] of cache) {
      const gone =
        'tokenId' in revocation
          ? entry.session.tokenId === revocation.tokenId
          : entry.family === revocation.family;
      if (gone) cache.delete(key);
    }
  }

  function forgetAll(): void {
    distrust();
    cache.clear();
  }

  function keep(key: string, found: ResolvedToken, nowMs: number): void {
    if (cache.size >= CACHE_ENTRIES_MAX) cache.delete(cache.keys().next().value as string);
    const untilMs = Math.min(nowMs + CACHE_MS_MAX, found.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
    cache.set(key, { ...found, cachedUntilMs: untilMs });
  }

  async function lookUp(key: string, hash: Buffer, source: TokenSource): Promise<Session | null> {
    const before = revocations;
    const at = now();
    const found = await source.find(hash, at);
    if (found === undefined) return null;
    if (before === revocations) keep(key, found, at.getTime());
    return found.session;
  }

  function fromCache(key: string): Session | undefined {
    const entry = cache.get(key);
    if (entry === undefined) return undefined;
    if (entry.cachedUntilMs > now().getTime()) return entry.session;
    cache.delete(key);
    return undefined;
  }

  deps.revocations.subscribe({ forget, forgetAll });

  return async (token) => {
    if (token.length > TOKEN_CHARACTERS_MAX) return null;
    const hash = hashToken(token);
    const key = keyOf(hash);
    const source = sources.find(({ prefix }) => token.startsWith(prefix));
    if (source === undefined) return internal.get(key) ?? null;
    const cached = fromCache(key);
    if (cached !== undefined) return cached;
    // Calls that arrive together share one look-up.
    const shared = lookups.get(key);
    if (shared !== undefined) return shared;
    const lookup = lookUp(key, hash, source).finally(() => {
      if (lookups.get(key) === lookup) lookups.delete(key);
    });
    lookups.set(key, lookup);
    return lookup;
  };
}

/** Looked up by hash: how long that takes tells nothing about the token. */
function keyOf(hash: Buffer): string {
  return hash.toString('latin1');
}
