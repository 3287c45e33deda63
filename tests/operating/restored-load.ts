// A database is destroyed under load and restored to a second before. `npm run restore` does it with more load.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { expect } from 'vitest';
import type { LoggedService } from '../logs/process.ts';
import type { ArchivedServer } from './archived-server.ts';
import { type Promised, type Send, startLoad } from './load.ts';

const LOAD_MS = Number(process.env.RESTORE_LOAD_MS ?? 1_500);
const CLIENTS = 4;
const PAUSE_MS = process.env.RESTORE_LOAD_MS === undefined ? 25 : 0;
const SECOND_MS = 1_000;
/** What was answered so soon after the target may have been written before it. */
const ANSWERED_WITHIN_MS = 200;

export interface Restored {
  url: string;
  database: Database;
  /** What was answered before the target, and after it. */
  before: readonly Promised[];
  after: readonly Promised[];
}

/** Takes the load, destroys the server with the process, and restores it to a second before its last request. */
export async function destroyUnderLoad(
  server: ArchivedServer,
  service: LoggedService,
  send: Send,
): Promise<Restored> {
  const load = startLoad({ send, servers: () => [service.url], clients: CLIENTS, pauseMs: PAUSE_MS });
  await sleep(LOAD_MS / 2);
  await server.takeBaseBackup();
  await sleep(LOAD_MS / 2);
  const target = new Date();
  await sleep(SECOND_MS);
  await load.stop();
  await service.kill();
  await server.destroy();

  const before = load.promised.filter(({ answeredAtMs }) => answeredAtMs < target.getTime());
  const after = load.promised.filter(
    ({ answeredAtMs }) => answeredAtMs > target.getTime() + ANSWERED_WITHIN_MS,
  );
  expect(load.failures).toEqual([]);
  expect(before.length).toBeGreaterThan(10);
  expect(after.length).toBeGreaterThan(0);
  return { ...(await server.restoreTo(target)), before, after };
}
