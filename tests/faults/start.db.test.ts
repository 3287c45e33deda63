// The database goes away in the middle of a start: one line says so, and nothing runs on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { freePort } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDatabaseWire } from './database-wire.ts';

const SLOW_MACHINE_MS = 60_000;
const root = fileURLToPath(new URL('../..', import.meta.url));

describe.each(['payments', 'toolhub'])('%s', (service) => {
  let database: TestDatabase;
  let dataDir: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataDir = await mkdtemp(join(tmpdir(), 'start-'));
  });
  afterAll(async () => {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Starts the program; its database is gone for good when it is about to run that statement. */
  async function startAndCutAt(beginning: string) {
    const wire = await startDatabaseWire(database.url, {
      isStopped({ name }) {
        if (!name.startsWith(beginning)) return false;
        wire.isOpen = false;
        wire.cut();
        return true;
      },
    });
    const prefix = service.toUpperCase();
    const child = spawn(process.execPath, [`services/${service}/src/main.ts`], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DATA_DIR: dataDir,
        [`${prefix}_DATABASE_URL`]: wire.url,
        [`${prefix}_PORT`]: String(await freePort()),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = text(child.stderr);
    const [code] = (await once(child, 'exit')) as [number | null];
    await wire.stop();
    return { code, said: await said };
  }

  test.each([
    ['between two migrations', 'insert into'],
    ['while the service is put together', 'listen '],
  ])('%s', { timeout: SLOW_MACHINE_MS }, async (_moment, beginning) => {
    const { code, said } = await startAndCutAt(beginning);
    expect(said).toMatch(/^cannot start: the database went away \([^\n]+\): start again when it is back\n$/);
    expect(code).toBe(1);
  });
});
