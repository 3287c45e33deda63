import { hash } from '@node-rs/argon2';
import { beforeAll, expect, test } from 'vitest';
import { createPasswords, type Passwords } from './passwords.ts';

let passwords: Passwords;
let stored: string;

beforeAll(async () => {
  passwords = createPasswords();
  stored = await passwords.hash('correct horse battery');
});

test('a hash is argon2id and opens for its password alone', async () => {
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await passwords.verify('correct horse battery', stored)).toBe(true);
  expect(await passwords.verify('Correct horse battery', stored)).toBe(false);
  expect(await passwords.verify('', undefined)).toBe(false);
});

test('a password is the same however a keyboard composes its letters', async () => {
  const [composed, apart] = ['crème brûlée'.normalize('NFC'), 'crème brûlée'.normalize('NFD')];
  for (const typed of [composed, apart]) {
    const kept = await passwords.hash(typed);
    expect([await passwords.verify(composed, kept), await passwords.verify(apart, kept)]).toEqual([
      true,
      true,
    ]);
  }
  // As an earlier version kept it.
  expect(await passwords.verify(apart, await hash(apart))).toBe(true);
  expect(await passwords.verify('creme brulee', await hash(apart))).toBe(false);
});

test('an account that does not exist costs the same work', async () => {
  const fastestMs = async (hash: string | undefined) => {
    let fastest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 10; round += 1) {
      const startedMs = performance.now();
      await passwords.verify('wrong password', hash);
      fastest = Math.min(fastest, performance.now() - startedMs);
    }
    return fastest;
  };
  const ratio = (await fastestMs(undefined)) / (await fastestMs(stored));
  // Without the dummy this is below one hundredth; the wide band is for busy machines.
  expect(ratio).toBeGreaterThan(0.2);
  expect(ratio).toBeLessThan(5);
});

test('waiting checks are answered in turn, and beyond the queue refused', async () => {
  const answers = await Promise.allSettled(
    Array.from({ length: 505 }, () => passwords.verify('x', 'not a hash')),
  );
  const refused = answers.filter(
    ({ status, ...rest }) => status === 'rejected' && 'reason' in rest && rest.reason.code === 'busy',
  );
  expect(refused).toHaveLength(3);
  expect(await passwords.verify('correct horse battery', stored)).toBe(true);
});
