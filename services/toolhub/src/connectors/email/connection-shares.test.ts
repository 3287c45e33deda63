// Who gets a mail connection when there are too few: nobody takes them all, and whoever has least comes first.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createConnectionShares } from './connection-shares.ts';

const never = new AbortController().signal;
const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('shares of the mail connections', () => {
  it('gives one owner no more than its number, and the rest to others at once', async () => {
    const shares = createConnectionShares({ waitMs: 20 });
    const mallory = Array.from({ length: 50 }, () =>
      shares.take('mallory', never).catch((error) => error.code),
    );
    await soon();
    expect(shares.held('mallory')).toBe(8);
    const [ada, bob] = await Promise.all([shares.take('ada', never), shares.take('bob', never)]);
    expect(shares.held()).toBe(10);
    ada();
    bob();
    const outcomes = await Promise.all(mallory);
    expect(outcomes.filter((outcome) => outcome === 'rate_limited')).toHaveLength(42);
    for (const outcome of outcomes) if (typeof outcome === 'function') outcome();
    expect(shares.held()).toBe(0);
  });

  it('keeps a part for those who hold little, however many hold much', async () => {
    const shares = createConnectionShares({ total: 20, perOwner: 8, waitMs: 20 });
    for (const owner of ['a', 'b', 'c']) {
      for (let count = 0; count < 8; count += 1) shares.take(owner, never).catch(() => {});
    }
    await soon();
    // Three quarters for everybody, and two more for the last who came.
    expect(shares.held()).toBe(17);
    await shares.take('newcomer', never);
    expect(shares.held('newcomer')).toBe(1);
  });

  it('serves whoever holds least first', async () => {
    const shares = createConnectionShares({ total: 2, shared: 2 });
    const [first, second] = await Promise.all([shares.take('a', never), shares.take('a', never)]);
    const order: string[] = [];
    const waiting = ['a', 'a', 'b'].map(async (owner) => {
      const release = await shares.take(owner, never);
      order.push(owner);
      release();
    });
    await soon();
    first();
    await Promise.all(waiting);
    expect(order[0]).toBe('b');
    second();
    expect(shares.held()).toBe(0);
  });

  it('asks for resting connections before it lets anybody wait, the owner’s own first', async () => {
    const asked: (string | null)[] = [];
    const shares = createConnectionShares({ total: 1, perOwner: 1, shared: 1, waitMs: 10 });
    const release = await shares.take('a', never);
    shares.onPressure((owner) => {
      asked.push(owner);
      release();
      return true;
    });
    await shares.take('a', never);
    expect(asked).toEqual(['a']);
    expect(shares.held()).toBe(1);
  });

  it('never counts wrong, whatever is taken, given back and cancelled', async () => {
    const step = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('take', 'release', 'cancel'));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const shares = createConnectionShares({ total: 6, perOwner: 3, waitMs: 60_000 });
        const held: { owner: string; release: () => void }[] = [];
        const cancels: AbortController[] = [];
        for (const [owner, action] of steps) {
          if (action === 'take') {
            const cancel = new AbortController();
            cancels.push(cancel);
            shares.take(owner, cancel.signal).then(
              (release) => held.push({ owner, release }),
              () => {},
            );
          } else if (action === 'release') held.shift()?.release();
          else cancels.shift()?.abort();
          await soon();
          expect(shares.held()).toBe(held.length);
          expect(shares.held()).toBeLessThanOrEqual(6);
          for (const name of ['a', 'b', 'c']) expect(shares.held(name)).toBeLessThanOrEqual(3);
        }
        for (const cancel of cancels) cancel.abort();
        for (const { release } of held) release();
        await soon();
        expect(shares.held()).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
