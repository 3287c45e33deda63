import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Connection } from './connection.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function watched(): { connection: Connection; heard: boolean[] } {
  const connection = new Connection();
  const heard: boolean[] = [];
  connection.subscribe(() => heard.push(connection.isLost()));
  return { connection, heard };
}

test('one address that is blocked or too slow loses no connection: everything would be read anew for ever', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ status: 'ok' }));
  const { connection, heard } = watched();
  for (let tries = 0; tries < 3; tries += 1) {
    connection.reportLost();
    await vi.advanceTimersByTimeAsync(10_000);
    connection.reportAnswer();
  }
  expect(heard).toEqual([]);
});

test('a gateway without its server is no answer: lost until the server is back', async () => {
  const answers = [502, 504, 503, 200];
  vi.stubGlobal('fetch', async () => new Response('<html>', { status: answers.shift() ?? 200 }));
  const { connection, heard } = watched();
  connection.reportLost();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(heard).toEqual([true]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(heard).toEqual([true, false]);
});

test('an answer to another call ends it, also where the small question is never answered', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  const { connection, heard } = watched();
  connection.reportLost();
  await vi.advanceTimersByTimeAsync(100);
  connection.reportAnswer();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(heard).toEqual([true, false]);
});
