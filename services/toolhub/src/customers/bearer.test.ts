// What a process remembers of tokens: for how long, and how it forgets.
import { hashToken } from '@libs/seal';
import { expect, test, vi } from 'vitest';
import { CACHE_ENTRIES_MAX, CACHE_MS_MAX, createBearerResolver, type ResolvedToken } from './bearer.ts';
import type { Session } from './identity.ts';
import type { RevocationListener } from './revocations.ts';

function session(tokenId: string): Session {
  return {
    kind: 'customer',
    customerId: 'cus_1',
    via: 'oauth',
    tokenId,
    scopes: ['tools:read'],
    audience: null,
  };
}

function rig(find: (hash: Buffer, now: Date) => Promise<ResolvedToken | undefined>) {
  const clock = { ms: 1_000_000 };
  const listeners: RevocationListener[] = [];
  const source = { prefix: 'tho_', find: vi.fn(find) };
  const resolve = createBearerResolver({
    revocations: { subscribe: (listener) => void listeners.push(listener) },
    sources: [source],
    internalTokens: [{ name: 'robot', token: 'thi_internal' }],
    now: () => new Date(clock.ms),
  });
  const [listener] = listeners as [RevocationListener];
  return { clock, source, resolve, listener };
}

const found = (id = 'oat_1', expiresAt: Date | null = null): ResolvedToken => ({
  session: session(id),
  expiresAt,
  family: 'family_1',
});

test('[TH-3.6] a token is looked up once a minute, however many ask', async () => {
  expect(CACHE_MS_MAX).toBeLessThanOrEqual(60_000);
  const { clock, source, resolve } = rig(async () => found());
  const answers = await Promise.all(Array.from({ length: 50 }, () => resolve('tho_a')));
  expect(answers.every((answer) => answer?.kind === 'customer')).toBe(true);
  clock.ms += CACHE_MS_MAX - 1;
  await resolve('tho_a');
  expect(source.find).toHaveBeenCalledTimes(1);
  clock.ms += 1;
  await resolve('tho_a');
  expect(source.find).toHaveBeenCalledTimes(2);
});

test('[TH-3] a token is not remembered beyond its own end', async () => {
  const { clock, source, resolve } = rig(async (_hash, now) =>
    now.getTime() < 1_005_000 ? found('oat_1', new Date(1_005_000)) : undefined,
  );
  expect(await resolve('tho_a')).toMatchObject({ tokenId: 'oat_1' });
  clock.ms += 5_000;
  expect(await resolve('tho_a')).toBeNull();
  expect(source.find).toHaveBeenCalledTimes(2);
});

test('[TH-3] a revoked token and a revoked family are forgotten, others are not', async () => {
  const { source, resolve, listener } = rig(async () => found());
  await resolve('tho_a');
  listener.forget({ tokenId: 'oat_other' });
  listener.forget({ family: 'family_other' });
  await resolve('tho_a');
  expect(source.find).toHaveBeenCalledTimes(1);
  listener.forget({ tokenId: 'oat_1' });
  await resolve('tho_a');
  listener.forget({ family: 'family_1' });
  await resolve('tho_a');
  listener.forgetAll();
  await resolve('tho_a');
  expect(source.find).toHaveBeenCalledTimes(4);
});

test('[TH-3] an answer that was read before a revocation is not kept after it', async () => {
  let answer: (token: ResolvedToken | undefined) => void = () => {};
  const { source, resolve, listener } = rig(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  const early = resolve('tho_a');
  const answerEarly = answer;
  listener.forget({ tokenId: 'oat_1' });
  // Whoever asks after the revocation does not share the old look-up.
  const late = resolve('tho_a');
  answer(undefined);
  answerEarly(found());
  expect(await late).toBeNull();
  expect(await early).toMatchObject({ tokenId: 'oat_1' });
  const again = resolve('tho_a');
  answer(undefined);
  expect(await again).toBeNull();
  expect(source.find).toHaveBeenCalledTimes(3);
});

test('[TH-3] unknown tokens are not remembered, and a failed look-up is tried again', async () => {
  let state: 'missing' | 'broken' | 'there' = 'missing';
  const { resolve } = rig(async () => {
    if (state === 'broken') throw new Error('no database');
    return state === 'there' ? found() : undefined;
  });
  expect(await resolve('tho_a')).toBeNull();
  state = 'broken';
  await expect(resolve('tho_a')).rejects.toThrow('no database');
  state = 'there';
  expect(await resolve('tho_a')).toMatchObject({ customerId: 'cus_1' });
});

test('[TH-1] internal tokens are sessions of no customer; anything else is nobody', async () => {
  const { source, resolve } = rig(async () => undefined);
  expect(await resolve('thi_internal')).toEqual({
    kind: 'internal',
    name: 'robot',
    scopes: ['tools:read', 'tools:write'],
  });
  for (const token of ['', 'x', 'thi_internal2', 'x'.repeat(10_000)]) expect(await resolve(token)).toBeNull();
  expect(source.find).not.toHaveBeenCalled();
});

test('[TH-3] memory is bounded: the token that was found longest ago makes room', async () => {
  const { source, resolve } = rig(async () => found());
  for (let index = 0; index <= CACHE_ENTRIES_MAX; index += 1) await resolve(`tho_${index}`);
  expect(source.find).toHaveBeenCalledTimes(CACHE_ENTRIES_MAX + 1);
  await resolve('tho_1');
  await resolve(`tho_${CACHE_ENTRIES_MAX}`);
  expect(source.find).toHaveBeenCalledTimes(CACHE_ENTRIES_MAX + 1);
  await resolve('tho_0');
  expect(source.find).toHaveBeenCalledTimes(CACHE_ENTRIES_MAX + 2);
});

test('[TH-3] a remembered token is found from any string that spells it, and no other token is', async () => {
  const { source, resolve } = rig(async (hash) => (hash.equals(hashToken('tho_abc')) ? found() : undefined));
  await resolve('Bearer tho_abc'.slice(7));
  expect(await resolve(['tho', 'abc'].join('_'))).toMatchObject({ tokenId: 'oat_1' });
  expect(source.find).toHaveBeenCalledTimes(1);
  for (const other of ['tho_ab', 'tho_abcd', 'tho_abC', 'tho_']) expect(await resolve(other)).toBeNull();
});
