import { describe, expect, test } from 'vitest';
import {
  balanceChanges,
  isBalanceAccount,
  OUTSIDE_DESTINATIONS,
  OUTSIDE_SOURCES,
  owedAccount,
  type Transfer,
} from './transfer.ts';

function aTransfer(kind: Transfer['kind'], changes: Partial<Transfer> = {}): Transfer {
  return {
    tenantId: 'org_a.test',
    id: 'lt_1',
    paymentId: 'pay_1',
    kind,
    rail: null,
    debitAccount: 'pm_from',
    creditAccount: 'pm_to',
    amount: 100,
    fee: 7,
    createdAt: new Date(0),
    ...changes,
  };
}

/** What a transfer leaves in the balance that pays and in the one that is paid: posted, held, incoming. */
const effectOf = (...transfers: Transfer[]) =>
  balanceChanges(transfers).map(({ posted, held, incoming }) => [posted, held, incoming]);

describe('[P-6.2] what a transfer changes in balances', () => {
  test.each<[Transfer['kind'], number[], number[]]>([
    ['hold', [0, 100, 0], [0, 0, 100]],
    ['post', [-100, -100, 0], [100, 0, -100]],
    ['release', [0, -100, 0], [0, 0, -100]],
    ['reverse', [100, 0, 0], [-100, 0, 0]],
    ['fund', [0, 0, 0], [100, 0, 0]],
    ['owe', [0, 0, 0], [0, 0, 0]],
    ['repay', [0, 0, 0], [0, 0, 0]],
  ])('%s', (kind, from, to) => {
    expect(effectOf(aTransfer(kind))).toEqual([from, to]);
  });

  test('a payment that is made and one that is undone leave nothing pending, and fees touch no balance', () => {
    const posted = [aTransfer('hold'), aTransfer('post')];
    expect(effectOf(...posted)).toEqual([
      [-100, 0, 0],
      [100, 0, 0],
    ]);
    expect(effectOf(...posted, aTransfer('reverse'))).toEqual(
      effectOf(aTransfer('hold'), aTransfer('release')),
    );
  });

  test('only a return may take more than there is', () => {
    const kinds = ['hold', 'post', 'release', 'fund', 'owe', 'repay', 'reverse'] as const;
    const mayOwe = kinds.filter((kind) => balanceChanges([aTransfer(kind)]).some((one) => one.mayOwe));
    expect(mayOwe).toEqual(['reverse']);
    expect(balanceChanges([aTransfer('reverse'), aTransfer('hold')]).map((one) => one.mayOwe)).toEqual([
      true,
      true,
    ]);
  });

  test('the world outside and what is owed are no balances', () => {
    for (const account of [OUTSIDE_SOURCES, OUTSIDE_DESTINATIONS, owedAccount('pm_from')])
      expect(isBalanceAccount(account)).toBe(false);
    expect(isBalanceAccount('pm_from')).toBe(true);
    const outside = { debitAccount: OUTSIDE_SOURCES, creditAccount: OUTSIDE_DESTINATIONS };
    expect(balanceChanges([aTransfer('post', outside)])).toEqual([]);
  });

  test('each balance comes once, apart by organisation, in one order whoever writes', () => {
    const transfers = [
      aTransfer('hold', { debitAccount: 'pm_b', creditAccount: 'pm_a' }),
      aTransfer('hold', { debitAccount: 'pm_a', creditAccount: 'pm_b' }),
      aTransfer('hold', {
        tenantId: 'org_0.test',
        debitAccount: 'pm_b',
        creditAccount: OUTSIDE_DESTINATIONS,
      }),
    ];
    const keys = (given: readonly Transfer[]) =>
      balanceChanges(given).map((one) => `${one.tenantId} ${one.paymentMethodId}`);
    const order = ['org_0.test pm_b', 'org_a.test pm_a', 'org_a.test pm_b'];
    expect(keys(transfers)).toEqual(order);
    expect(keys(transfers.toReversed())).toEqual(order);
  });
});
