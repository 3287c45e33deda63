import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createListChanges, type ListChanges } from './list-changes.ts';

const PAUSE_MS = 10_000;
let changes: ListChanges;
let told = { ada: 0, bob: 0 };

beforeEach(async () => {
  vi.useFakeTimers();
  told = { ada: 0, bob: 0 };
  changes = createListChanges((error) => {
    throw error;
  });
  for (const owner of ['ada', 'bob'] as const) {
    const listener = () => {
      told[owner] += 1;
    };
    await changes.openFor(owner, async () => changes.bus.subscribe(listener));
  }
});
afterEach(() => {
  changes.close();
  vi.useRealTimers();
});

test('what changes within the pause after everybody was told is told once at its end', () => {
  changes.tell(null);
  expect(told).toEqual({ ada: 1, bob: 1 });
  for (let times = 0; times < 20; times += 1) {
    vi.advanceTimersByTime(250);
    changes.tell(null);
  }
  expect(told).toEqual({ ada: 1, bob: 1 });
  vi.advanceTimersByTime(PAUSE_MS / 2);
  expect(told).toEqual({ ada: 2, bob: 2 });
  vi.advanceTimersByTime(10 * PAUSE_MS);
  expect(told).toEqual({ ada: 2, bob: 2 });
  changes.tell(null);
  expect(told).toEqual({ ada: 3, bob: 3 });
});

test('one customer is told at once, also within the pause', () => {
  changes.tell(null);
  changes.tell('ada');
  expect(told).toEqual({ ada: 2, bob: 1 });
});

test('nothing is left over once it is closed', () => {
  changes.tell(null);
  changes.tell(null);
  expect(vi.getTimerCount()).toBe(1);
  changes.close();
  changes.tell(null);
  expect(vi.getTimerCount()).toBe(0);
  expect(told).toEqual({ ada: 1, bob: 1 });
});
