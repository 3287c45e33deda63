import { LRUCache } from 'lru-cache';
import type { Caller } from './key.ts';

const ENTRIES_MAX = 10_000;
/** How long an entry lives while this process hears of every change. */
const TRUSTED_MS = 60_000;
/** How long it lives without that: a revoked key must be dead everywhere within a second. */
const UNTRUSTED_MS = 300;

export interface KnownKey {
  readonly caller: Caller;
  /** Real time, in milliseconds; infinity for a key without an end. */
  readonly expiresAtMs: number;
}

interface Entry extends KnownKey {
  readonly loadedAtMs: number;
}

export interface KeyCacheOptions {
  /** Whether changes made by other processes reach this one right now. */
  isLive: () => boolean;
  /** Monotonic. */
  nowMs: () => number;
}

/** Keys by their token, so that the same key is looked up in the database once a minute and not once a request. */
export class KeyCache {
  readonly #entries = new LRUCache<string, Entry>({
    max: ENTRIES_MAX,
    dispose: ({ caller }) => this.#tokenByKeyId.delete(caller.keyId),
  });
  readonly #tokenByKeyId = new Map<string, string>();
  readonly #options: KeyCacheOptions;
  #changes = 0;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  get(token: string): KnownKey | undefined {
    const entry = this.#entries.get(token);
    if (entry === undefined) return undefined;
    const ageMs = this.#options.nowMs() - entry.loadedAtMs;
    if (ageMs <= UNTRUSTED_MS || (ageMs <= TRUSTED_MS && this.#options.isLive())) return entry;
    return undefined;
  }

  /** Call it before the look into the database, and pass what it gives to `set`. */
  begin(): { changes: number; atMs: number } {
    return { changes: this.#changes, atMs: this.#options.nowMs() };
  }

  /** Keeps nothing that was read before a change that has been announced since. */
  set(token: string, key: KnownKey, begun: { changes: number; atMs: number }): void {
    if (begun.changes !== this.#changes) return;
    this.#entries.set(token, { ...key, loadedAtMs: begun.atMs });
    this.#tokenByKeyId.set(key.caller.keyId, token);
  }

  forget(keyId: string | null): void {
    this.#changes += 1;
    if (keyId === null) {
      this.#entries.clear();
      return;
    }
    const token = this.#tokenByKeyId.get(keyId);
    if (token !== undefined) this.#entries.delete(token);
  }

  /** Rare, and there are few enough of all to look through. */
  forgetOrganisation(organisationId: string): void {
    this.#changes += 1;
    const gone = [...this.#entries.entries()].filter(
      ([, { caller }]) => caller.tenant.organisationId === organisationId,
    );
    for (const [token] of gone) this.#entries.delete(token);
  }
}
