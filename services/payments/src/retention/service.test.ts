import { expect, test } from 'vitest';
import { createRetention, type Sweep } from './service.ts';

const ROWS_PER_TURN = 1_000;

/** A clock that moves by a tenth of a second with each look. */
function ticking(): () => number {
  let ms = 0;
  return () => {
    ms += 100;
    return ms;
  };
}

function run(sweeps: readonly Sweep[], signal = new AbortController().signal): Promise<void> {
  return createRetention(sweeps, ticking()).handler.handle([], { signal });
}

/** A table with so many rows that are past their time. */
function tableOf(rows: number) {
  const table = {
    rows,
    turns: 0,
    async sweep(limit: number): Promise<number> {
      table.turns += 1;
      const removed = Math.min(limit, table.rows);
      table.rows -= removed;
      return removed;
    },
  };
  return table;
}

test('each is swept turn by turn, until a turn finds less than it may remove', async () => {
  const [full, empty] = [tableOf(2 * ROWS_PER_TURN + 1), tableOf(0)];
  await run([full.sweep, empty.sweep]);
  expect([full.rows, full.turns, empty.turns]).toEqual([0, 3, 1]);
});

test('a run ends also where a table fills as fast as it is swept', async () => {
  const [endless, other] = [tableOf(Number.POSITIVE_INFINITY), tableOf(1)];
  await run([endless.sweep, other.sweep]);
  // Five minutes, of which each turn takes a tenth of a second.
  expect([endless.turns, other.rows]).toEqual([2_999, 0]);
});

test('a process that stops begins no further turn', async () => {
  const stopping = new AbortController();
  const [table, other] = [tableOf(10 * ROWS_PER_TURN), tableOf(1)];
  const sweep: Sweep = (limit) => {
    stopping.abort();
    return table.sweep(limit);
  };
  await run([sweep, other.sweep], stopping.signal);
  expect([table.turns, other.turns]).toEqual([1, 0]);
});

test('one that fails is told of, and keeps no other from its work', async () => {
  const other = tableOf(1);
  const broken =
    (message: string): Sweep =>
    () =>
      Promise.reject(new Error(message));
  await expect(run([broken('one'), other.sweep])).rejects.toThrow('one');
  expect(other.rows).toBe(0);
});
