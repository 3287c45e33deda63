import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalSecrets, hashToken, newToken, TOKEN_CHARACTERS } from './tokens.ts';

describe('newToken', () => {
  it('is the prefix and 43 letters and digits', () => {
    const token = newToken('sk_live_', randomBytes);
    expect(token).toMatch(/^sk_live_[0-9A-Za-z]{43}$/);
  });

  it('is made of 256 random bits', () => {
    const asked: number[] = [];
    newToken('', (size) => {
      asked.push(size);
      return randomBytes(size);
    });
    expect(asked).toEqual([32]);
  });

  it('loses none of the 256 bits: different bytes always give different tokens', () => {
    const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(bytes32, bytes32, (left, right) => {
        const same = left.equals(right);
        expect(newToken('', () => left) === newToken('', () => right)).toBe(same);
      }),
    );
    expect(newToken('', () => Buffer.alloc(32, 255))).toHaveLength(TOKEN_CHARACTERS);
    expect(newToken('', () => Buffer.alloc(32))).toBe('0'.repeat(TOKEN_CHARACTERS));
  });

  it('refuses a prefix that would break out of a header', () => {
    expect(() => newToken('a b', randomBytes)).toThrow('not a token prefix');
  });
});

describe('hashToken', () => {
  it('is SHA-256', () => {
    expect(hashToken('abc')).toEqual(createHash('sha256').update('abc').digest());
  });
});

describe('equalSecrets', () => {
  it('agrees with plain equality, for any lengths', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (left, right) => {
        expect(equalSecrets(left, right)).toBe(left === right);
        expect(equalSecrets(left, Buffer.from(left))).toBe(true);
      }),
    );
  });
});
