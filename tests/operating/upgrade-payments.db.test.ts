// No request fails while Payments is upgraded under load, and nothing is lost.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { earlierCommit } from './earlier-release.ts';
import { callPayments, fateOf, PAYMENTS_ENV, sendPayment } from './payments-load.ts';
import { openUpgrade, type Upgrade } from './rolling-upgrade.ts';

const commit = earlierCommit('payments');

/** Processes from before messages were packed, or packed so, leave those of newer ones to them, with a line for each. */
const LEFT_TO_NEWER = /a message is (kept in one way or the other|packed in a form that is known)/;

describe.runIf(commit !== undefined)('a rolling upgrade of Payments', () => {
  let upgrade: Upgrade;

  beforeAll(async () => {
    upgrade = await openUpgrade({ service: 'payments', commit: commit as string, env: PAYMENTS_ENV });
  });
  afterAll(() => upgrade.end());

  test('fails no request and loses nothing', { timeout: 180_000 }, async () => {
    await upgrade.begin();
    const { load, url } = await upgrade.roll(sendPayment, (line) => LEFT_TO_NEWER.test(line));
    const all = { present: load.promised.length, completed: load.promised.length };
    await expect
      .poll(() => fateOf(upgrade.database.database, load.promised), { timeout: 60_000, interval: 250 })
      .toEqual(all);
    expect(await callPayments(url, 'GET', '/v1/ledger/check')).toMatchObject({ body: { ok: true } });
    console.log(
      `upgrade of Payments from ${commit?.slice(0, 7)}: ${load.promised.length} payments, none failed, none lost`,
    );
  });
});
