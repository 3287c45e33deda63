import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdFactory, ID_CHARACTERS, idBorder, idBorderTimeMs, idTimeMs, newId } from './ids.ts';

// Up to the year 3000.
const timeMs = fc.integer({ min: 0, max: 32_503_680_000_000 });

describe('newId', () => {
  it('has the prefix, 26 characters, and gives its time back', () => {
    fc.assert(
      fc.property(timeMs, (ms) => {
        const id = newId('pay', ms, randomBytes);
        expect(id).toMatch(/^pay_[0-9a-hjkmnp-tv-z]{26}$/);
        expect(idTimeMs(id)).toBe(ms);
      }),
    );
    expect(ID_CHARACTERS).toBe(26);
  });

  it('sorts as text by time, bytewise and by a language', () => {
    const collator = new Intl.Collator('en');
    fc.assert(
      fc.property(timeMs, timeMs, (left, right) => {
        fc.pre(left < right);
        const [early, late] = [newId('evt', left, randomBytes), newId('evt', right, randomBytes)];
        expect(early < late).toBe(true);
        expect(collator.compare(early, late)).toBe(-1);
      }),
    );
  });

  it('refuses a prefix that would break the order or the form', () => {
    expect(() => newId('Pay', 0, randomBytes)).toThrow('not an id prefix');
    expect(() => createIdFactory({ now: () => new Date(), randomBytes })('')).toThrow('not an id prefix');
  });
});

describe('idTimeMs', () => {
  it('knows text that is no id', () => {
    expect(idTimeMs('pm_test_no_rtp')).toBeUndefined();
    expect(idTimeMs(`pay_${'!'.repeat(26)}`)).toBeUndefined();
  });
});

describe('idBorder', () => {
  it('comes after every id of an earlier time and before every other, and gives its time back', () => {
    fc.assert(
      fc.property(timeMs, (time) => {
        const border = idBorder('dlv', time);
        expect(newId('dlv', time, randomBytes) > border).toBe(true);
        if (time > 0) expect(newId('dlv', time - 1, randomBytes) < border).toBe(true);
        expect(idBorderTimeMs(border)).toBe(time);
      }),
    );
  });

  it('is no id, and no id is one', () => {
    expect(idBorderTimeMs(newId('dlv', 0, randomBytes))).toBeUndefined();
    expect(idTimeMs(idBorder('dlv', 0))).toBeUndefined();
  });
});

describe('createIdFactory', () => {
  it('ascends strictly whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 200 }), (steps) => {
        let clock = 1_700_000_000_000;
        const makeId = createIdFactory({ now: () => new Date(clock), randomBytes });
        let last = '';
        for (const step of steps) {
          clock += step;
          const id = makeId('dlv');
          expect(id > last).toBe(true);
          last = id;
        }
      }),
    );
  });

  it('moves on to the next millisecond when one is full, still in order', () => {
    const highest = (size: number) => Buffer.alloc(size, 255);
    const makeId = createIdFactory({ now: () => new Date(1000), randomBytes: highest });
    let last = makeId('a');
    for (let count = 0; count < 600_000; count += 1) {
      const id = makeId('a');
      if (id <= last) throw new Error(`${id} does not come after ${last}`);
      last = id;
    }
    expect(idTimeMs(last)).toBe(1001);
  });

  it('takes up with a clock that has passed the borrowed milliseconds', () => {
    let clock = 5000;
    const makeId = createIdFactory({ now: () => new Date(clock), randomBytes });
    makeId('a');
    clock = 6000;
    expect(idTimeMs(makeId('a'))).toBe(6000);
  });

  it('never repeats over two factories that share a millisecond', () => {
    const options = { now: () => new Date(1000), randomBytes };
    const [left, right] = [createIdFactory(options), createIdFactory(options)];
    const ids = Array.from({ length: 5000 }, () => [left('x'), right('x')]).flat();
    expect(new Set(ids).size).toBe(ids.length);
  });
});
