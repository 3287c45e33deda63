import { describe, expect, test } from 'vitest';
import { tenantOf } from '../tenant.ts';
import { KeyCache, type KnownKey } from './cache.ts';

function known(keyId: string): KnownKey {
  const caller = { tenant: tenantOf('org_1', 'test'), keyId, scopes: new Set<never>() };
  return { caller, expiresAtMs: Number.POSITIVE_INFINITY };
}

function createCache() {
  const state = { nowMs: 0, live: true };
  const cache = new KeyCache({ isLive: () => state.live, nowMs: () => state.nowMs });
  const put = (token: string, keyId: string) => cache.set(token, known(keyId), cache.begin());
  return { cache, state, put };
}

describe('keys in memory', () => {
  test('are trusted for a minute while changes are heard of, and for a moment while not', () => {
    const { cache, state, put } = createCache();
    put('token', 'key_1');
    state.nowMs = 60_000;
    expect(cache.get('token')?.caller.keyId).toBe('key_1');
    state.live = false;
    expect(cache.get('token')).toBeUndefined();
    put('token', 'key_1');
    state.nowMs += 300;
    expect(cache.get('token')).toBeDefined();
    state.nowMs += 1;
    expect(cache.get('token')).toBeUndefined();
    state.live = true;
    state.nowMs = 121_000;
    expect(cache.get('token')).toBeUndefined();
  });

  test('are forgotten one by one, or all at once', () => {
    const { cache, put } = createCache();
    put('one', 'key_1');
    put('two', 'key_2');
    cache.forget('key_1');
    cache.forget('key_unknown');
    expect([cache.get('one'), cache.get('two')?.caller.keyId]).toEqual([undefined, 'key_2']);
    cache.forget(null);
    expect(cache.get('two')).toBeUndefined();
  });

  test('that were read before an announced change are not kept', () => {
    const { cache } = createCache();
    const begun = cache.begin();
    cache.forget('key_other');
    cache.set('token', known('key_1'), begun);
    expect(cache.get('token')).toBeUndefined();
  });

  test('are bounded: the oldest goes first', () => {
    const { cache, put } = createCache();
    for (let n = 0; n <= 10_000; n += 1) put(`token ${n}`, `key_${n}`);
    expect(cache.get('token 0')).toBeUndefined();
    expect(cache.get('token 1')).toBeDefined();
    expect(cache.get('token 10000')).toBeDefined();
  });
});
