import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isKeyMissing, SealError, type SealErrorCode } from './errors.ts';
import { createSealer, parseKeyIds, parseSealKeys } from './sealer.ts';

const oldKey = Buffer.alloc(32, 1);
const newKey = Buffer.alloc(32, 2);

function codeOf(work: () => unknown): SealErrorCode | 'no error' {
  try {
    work();
  } catch (error) {
    if (error instanceof SealError) return error.code;
    throw error;
  }
  return 'no error';
}

const plainText = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));

describe('seal and open', () => {
  const sealer = createSealer({ keys: [newKey] });

  it('gives back any bytes under the same context', () => {
    fc.assert(
      fc.property(plainText, fc.string(), (plain, context) => {
        expect(sealer.open(sealer.seal(plain, context), context).equals(plain)).toBe(true);
      }),
    );
  });

  it('gives back any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(sealer.openText(sealer.seal(text, 'c'), 'c')).toBe(text);
      }),
    );
  });

  it('refuses any other context, so that a row copied to another owner stays shut', () => {
    fc.assert(
      fc.property(plainText, fc.string(), fc.string(), (plain, context, other) => {
        fc.pre(context !== other);
        const sealed = sealer.seal(plain, context);
        expect(codeOf(() => sealer.open(sealed, other))).toBe('refused');
      }),
    );
  });

  it('refuses an envelope with any one bit changed', () => {
    fc.assert(
      fc.property(plainText, fc.nat(), fc.integer({ min: 0, max: 7 }), (plain, position, bit) => {
        const sealed = sealer.seal(plain, 'context');
        const index = position % sealed.length;
        sealed[index] = (sealed[index] ?? 0) ^ (1 << bit);
        expect(codeOf(() => sealer.open(sealed, 'context'))).not.toBe('no error');
      }),
      { numRuns: 500 },
    );
  });

  it('refuses any shortened envelope and any noise', () => {
    const sealed = sealer.seal('4111', 'context');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(codeOf(() => sealer.open(sealed.subarray(0, length), 'context'))).not.toBe('no error');
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (noise) => {
        expect(codeOf(() => sealer.open(noise, 'context'))).not.toBe('no error');
      }),
    );
  });

  it('never makes the same envelope twice and never shows the plain text', () => {
    const plain = 'account-000123456789';
    const envelopes = Array.from({ length: 200 }, () => sealer.seal(plain, 'c').toString('latin1'));
    expect(new Set(envelopes).size).toBe(200);
    expect(envelopes.some((envelope) => envelope.includes('account'))).toBe(false);
  });

  it('takes each nonce whole, and no byte of what was drawn twice', () => {
    const drawn: Buffer[] = [];
    const counted = createSealer({
      keys: [newKey],
      randomBytes(size) {
        drawn.push(randomBytes(size));
        return drawn.at(-1) as Buffer;
      },
    });
    const nonces = Array.from({ length: 300 }, () => counted.seal('', 'c').subarray(5, 17));
    expect(Buffer.concat(drawn).subarray(0, 300 * 12)).toEqual(Buffer.concat(nonces));
  });
});

describe('what is stored', () => {
  // A change of the format, or of how keys are derived, would leave everything that is stored unreadable.
  const sealer = createSealer({ keys: [newKey], randomBytes: (size) => Buffer.alloc(size, 7) });
  const envelope = '01af3c55bf070707070707070707070707fa6f50b2743f07a32125c288c75624919d3dac00';

  it('opens with every later version', () => {
    expect(sealer.openText(Buffer.from(envelope, 'hex'), 'context')).toBe('kept');
    expect(sealer.seal('kept', 'context').toString('hex')).toBe(envelope);
  });

  it('is found by the same fingerprint', () => {
    expect(sealer.fingerprint('kept', 'context')).toBe('-5-CspRpFM-L4a7ARD6caSorVhPXoxOIekuAqyV7x6g');
  });
});

describe('key rotation', () => {
  it('opens what older keys sealed, and seals with the newest', () => {
    const before = createSealer({ keys: [oldKey] }).seal('secret', 'c');
    const rotated = createSealer({ keys: [newKey, oldKey] });
    expect(rotated.openText(before, 'c')).toBe('secret');
    const after = rotated.seal(rotated.open(before, 'c'), 'c');
    expect(createSealer({ keys: [newKey] }).openText(after, 'c')).toBe('secret');
  });

  it('says when the key is gone', () => {
    const before = createSealer({ keys: [oldKey] }).seal('secret', 'c');
    const sealer = createSealer({ keys: [newKey] });
    expect(codeOf(() => sealer.open(before, 'c'))).toBe('unknown_key');
  });

  it('tells a key that is gone from what nobody opens', () => {
    const isMissing = (keys: [Buffer], context: string) => {
      try {
        createSealer({ keys }).open(createSealer({ keys: [oldKey] }).seal('secret', 'c'), context);
      } catch (error) {
        return isKeyMissing(error);
      }
      return undefined;
    };
    expect([isMissing([newKey], 'c'), isMissing([oldKey], 'd'), isMissing([oldKey], 'c')]).toEqual([
      true,
      false,
      undefined,
    ]);
  });

  it('refuses keys that are short, missing or listed twice', () => {
    expect(codeOf(() => createSealer({ keys: [] }))).toBe('bad_key');
    expect(codeOf(() => createSealer({ keys: [randomBytes(31)] }))).toBe('bad_key');
    expect(codeOf(() => createSealer({ keys: [newKey, newKey] }))).toBe('bad_key');
  });
});

describe('fingerprint', () => {
  const sealer = createSealer({ keys: [newKey, oldKey] });

  it('is equal for equal values and differs by value, by context and by key', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (value, other, context) => {
        fc.pre(value !== other);
        const own = sealer.fingerprint(value, context);
        expect(sealer.fingerprint(value, context)).toBe(own);
        expect(sealer.fingerprint(other, context)).not.toBe(own);
        expect(sealer.fingerprint(value, `${context}x`)).not.toBe(own);
        expect(createSealer({ keys: [oldKey] }).fingerprint(value, context)).not.toBe(own);
      }),
    );
  });

  it('keeps the border between context and value', () => {
    expect(sealer.fingerprint('bc', 'a')).not.toBe(sealer.fingerprint('c', 'ab'));
  });

  it('gives one per key, so that values fingerprinted before a rotation are found', () => {
    const before = createSealer({ keys: [oldKey] }).fingerprint('021000021/123', 'accounts');
    expect(sealer.fingerprints('021000021/123', 'accounts')).toEqual([
      sealer.fingerprint('021000021/123', 'accounts'),
      before,
    ]);
  });
});

describe('parseSealKeys', () => {
  it('reads one key or a comma list, newest first', () => {
    const other = Buffer.alloc(32, 0xfb);
    const text = `${newKey.toString('base64')}, ${other.toString('base64url')}`;
    expect(parseSealKeys(text)).toEqual({ ok: true, keys: [newKey, other] });
  });

  it.each([
    ['', 'empty'],
    ['abc', 'too short'],
    [Buffer.alloc(33).toString('base64'), 'too long'],
    [`${newKey.toString('base64')},`, 'an empty second key'],
    [`!${newKey.toString('base64')}`, 'characters outside base64'],
    [`${newKey.toString('base64')},${newKey.toString('base64url')}`, 'the same key twice'],
    [Array.from({ length: 17 }, (_, nth) => Buffer.alloc(32, nth).toString('base64')).join(), 'too many'],
  ])('refuses %j: %s', (text) => {
    expect(parseSealKeys(text).ok).toBe(false);
  });
});

describe('parseKeyIds', () => {
  it('reads ids as they are printed', () => {
    const { keyIds } = createSealer({ keys: [newKey, oldKey] });
    expect(parseKeyIds(keyIds.join(' , ').toUpperCase())).toEqual(keyIds);
  });

  it.each(['', '1234567', '123456789', '12345678,', '1234567g', newKey.toString('base64')])(
    'refuses %j',
    (text) => {
      expect(parseKeyIds(text)).toBeInstanceOf(Error);
    },
  );
});
