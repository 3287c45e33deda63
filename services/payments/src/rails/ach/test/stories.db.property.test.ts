// Whatever happens to payments by ACH, in whatever order: the network's books, the ledger and what is told of payments agree.
import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { createHouse, type House } from './house.ts';
import { anyStory } from './stories.ts';
import { liveThrough } from './story-books.ts';

const SEED = 20_261_117;

let house: House;
let lives = 0;

beforeAll(async () => {
  house = await createHouse({ holdDays: 2 });
  await house.startWorking();
});
afterAll(() => house.close());

test('[P-5.12] [P-5.15] [P-5.16] [P-6.3] in any story nothing is lost, paid twice, stuck or untold', {
  timeout: 600_000,
}, async () => {
  const property = fc.asyncProperty(anyStory, (story) => {
    lives += 1;
    return liveThrough(house, `org_story_${lives}`, story);
  });
  await fc.assert(property, { seed: SEED, numRuns: 16 });
});
