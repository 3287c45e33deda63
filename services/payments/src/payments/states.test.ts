import { describe, expect, test } from 'vitest';
import { finalStatuses, moves, nextMove, paymentStatuses } from './states.ts';

describe('[P-4.11] the table of moves', () => {
  test('begins with pending and ends in the three final states', () => {
    expect(moves.filter((move) => move.from === null).map((move) => move.to)).toEqual(['pending']);
    expect([...finalStatuses].sort()).toEqual(['canceled', 'failed', 'returned']);
  });

  test('allows exactly these moves', () => {
    const allowed = paymentStatuses.flatMap((from) =>
      paymentStatuses
        .filter((to) => moves.some((move) => move.from === from && move.to === to))
        .map((to) => `${from} ${to}`),
    );
    expect(allowed.sort()).toEqual([
      'completed returned',
      'pending canceled',
      'pending failed',
      'pending processing',
      'processing completed',
      'processing failed',
    ]);
  });

  test('answers undefined where the state does not allow a move', () => {
    expect(nextMove('completed', 'canceled')).toBeUndefined();
    expect(nextMove('failed', 'settled')).toBeUndefined();
    expect(nextMove('processing', 'settled')?.to).toBe('completed');
  });

  test('holds money once and ends every life by posting or releasing it', () => {
    const effect = (to: string) => new Set(moves.filter((move) => move.to === to).map((move) => move.money));
    expect(effect('pending')).toEqual(new Set(['hold']));
    expect(effect('completed')).toEqual(new Set(['post']));
    expect(effect('failed')).toEqual(new Set(['release']));
    expect(effect('canceled')).toEqual(new Set(['release']));
    expect(effect('returned')).toEqual(new Set(['reverse']));
  });
});
