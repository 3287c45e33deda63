// Whatever happens to payments by ACH, in whatever order: the network's books, the ledger and what is told of payments agree.
import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { createHouse, type House } from './house.ts';
import { anyStory, type Story } from './stories.ts';
import { liveThrough } from './story-books.ts';

const SEED = 20_261_117;

/** A bank rejects the file of a credit whose debit came back: seldom drawn, and wrong before. */
const REJECTED_AFTER_RETURN: Story = {
  representments: 0,
  steps: [
    { does: 'pay', sourceId: 'pm_alice', destinationId: 'pm_bob', amount: 1_00, prefer: 'cost' },
    { does: 'wait', hours: 86 },
    { does: 'send back', entry: 0, code: 'R10' },
    { does: 'reject a file', file: 0, resend: true },
  ],
};

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
  await fc.assert(property, { seed: SEED, numRuns: 16, examples: [[REJECTED_AFTER_RETURN]] });
});
