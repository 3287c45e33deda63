// A rolling upgrade: processes of the version before under load, new ones beside them, the old ones drained one by one.
// `npm run upgrade [commit]` does it with more load, and from any commit.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { expect } from 'vitest';
import { type LoggedService, startLogged } from '../logs/process.ts';
import { checkOut } from './earlier-release.ts';
import { type Load, type Send, startLoad } from './load.ts';

const STEP_MS = Number(process.env.UPGRADE_STEP_MS ?? 700);
const TAKEN_OUT_MS = 100;
const CLIENTS = 4;
const PAUSE_MS = process.env.UPGRADE_STEP_MS === undefined ? 25 : 0;
const OLD_PROCESSES = Number(process.env.UPGRADE_PROCESSES ?? 1);

type ServiceName = Parameters<typeof startLogged>[0];

export interface UpgradeOptions {
  service: ServiceName;
  /** Whose files the version before has. */
  commit: string;
  env: Record<string, string>;
}

export interface Upgrade {
  database: TestDatabase;
  /** Starts the processes of the version before; the address of the first. */
  begin(): Promise<string>;
  /** Replaces them under load, and fails where one of them logged an error that is not expected. */
  roll(send: Send, isExpected?: (line: string) => boolean): Promise<{ load: Load; url: string }>;
  /** Whatever failed, nothing runs on. */
  end(): Promise<void>;
}

/** Releases that did not wait for a claim under way began its jobs when they had let go of the database; others do them. */
const CLAIMED_AT_THE_END = /Cannot use a pool after calling end on the pool.*libs\/jobs\/src\/worker\.ts/;

export async function openUpgrade({ service, commit, env }: UpgradeOptions): Promise<Upgrade> {
  const database = await createTestDatabase();
  const earlier = await checkOut(commit);
  const dataDir = await mkdtemp(join(tmpdir(), 'upgrade-'));
  const started: LoggedService[] = [];
  const old: LoggedService[] = [];

  async function start(folder?: string): Promise<LoggedService> {
    const prefix = service.toUpperCase();
    const own = {
      [`${prefix}_DATABASE_URL`]: database.url,
      [`${prefix}_ENCRYPTION_KEY`]: Buffer.alloc(32, 6).toString('base64'),
      DATA_DIR: dataDir,
    };
    const process = await startLogged(service, { ...env, ...own }, folder);
    started.push(process);
    return process;
  }

  async function migrations(): Promise<number> {
    const { rows } = await database.database.query<{ count: number }>(
      `select count(*)::int as count from ${service}.migrations`,
    );
    return rows[0]?.count ?? 0;
  }

  return {
    database,
    async begin() {
      while (old.length < OLD_PROCESSES) old.push(await start(earlier.folder));
      return (old[0] as LoggedService).url;
    },
    async roll(send, isExpected = () => false) {
      const before = await migrations();
      let urls = old.map(({ url }) => url);
      const load = startLoad({ send, servers: () => urls, clients: CLIENTS, pauseMs: PAUSE_MS });
      await sleep(STEP_MS);
      for (const leaving of old) {
        const coming = await start();
        // Both versions take requests and jobs for a while.
        urls = [...urls, coming.url];
        await sleep(STEP_MS);
        urls = urls.filter((url) => url !== leaving.url);
        // As a proxy does it: what was sent there has arrived before the signal comes.
        await sleep(TAKEN_OUT_MS);
        const errors = errorsIn(await leaving.stop()).filter((line) => !CLAIMED_AT_THE_END.test(line));
        expect(errors.filter((line) => !isExpected(line))).toEqual([]);
      }
      await sleep(STEP_MS);
      await load.stop();
      // The commit that is chosen here lies before a migration; one that somebody names may differ in code alone.
      if (process.env.UPGRADE_FROM === undefined) expect(await migrations()).toBeGreaterThan(before);
      expect(load.failures).toEqual([]);
      expect(load.promised.length).toBeGreaterThan(20);
      return { load, url: urls[0] as string };
    },
    async end() {
      await Promise.all(started.map((process) => process.kill()));
      await database.drop();
      await earlier.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const errorsIn = (log: string): string[] =>
  log.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
