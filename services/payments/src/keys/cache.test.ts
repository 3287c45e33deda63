import { describe, expect, test } from 'vitest';
import { tenantOf } from '../tenant.ts';
import { KeyCache, type KnownKey } from './cache.ts';

function known(keyId: string, organisationId = 'org_1'): KnownKey {
  const caller = { tenant: tenantOf(organisationId, 'test'), keyId, scopes: new Set<never>() };
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

  test('of an organisation are forgotten together, and those of others stay', () => {
    const { cache, put } = createCache();
    put('one', 'key_1');
    put('two', 'key_2');
    cache.set('other', known('key_3', 'org_2'), cache.begin());
    cache.forgetOrganisation('org_1');
    expect(['one', 'two', 'other'].map((token) => cache.get(token)?.caller.keyId)).toEqual([
      undefined,
      undefined,
      'key_3',
    ]);
  });

  test('that were read before an announced change are not kept', () => {
    const { cache } = createCache();
    for (const change of [() => cache.forget('key_other'), () => cache.forgetOrganisation('org_other')]) {
      const begun = cache.begin();
      change();
      cache.set('token', known('key_1'), begun);
      expect(cache.get('token')).toBeUndefined();
    }
  });

  test('[P-3.6] are as old as the look into the database that found them, however long that took', () => {
    const { cache, state } = createCache();
    state.live = false;
    const begun = cache.begin();
    state.nowMs = 301;
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
