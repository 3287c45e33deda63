// The short form of the fuzzers of mail: the corpus that is kept, and a few hundred inputs nobody thought of.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzImap } from './test/fuzz-imap.ts';
import { fuzzMime } from './test/fuzz-mime.ts';

const RUNS = 60;

describe.each([fuzzImap, fuzzMime])('$name', ({ corpus, arbitrary, run }) => {
  it('takes everything that was once too much', { timeout: 60_000 }, async () => {
    expect(corpus.length).toBeGreaterThan(10);
    for (const input of corpus) await run(input);
  });

  it('takes what nobody thought of', { timeout: 60_000 }, async () => {
    await fc.assert(fc.asyncProperty(arbitrary, run), { numRuns: RUNS });
  });
});
