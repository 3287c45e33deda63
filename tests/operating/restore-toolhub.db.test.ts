// After a restore of Toolhub every call that was answered before the target is there, counted once, and credentials open.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BotApiServer } from '../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { type LoggedService, startLogged } from '../logs/process.ts';
import { type ArchivedServer, startArchivedServer } from './archived-server.ts';
import type { Promised } from './load.ts';
import { destroyUnderLoad } from './restored-load.ts';
import { countedOf, createCaller, fateOfCalls, startPlatform, textsOf, toolhubEnv } from './toolhub-load.ts';

let platform: BotApiServer;
let server: ArchivedServer;

beforeAll(async () => {
  platform = await startPlatform();
  server = await startArchivedServer('services/toolhub/docs/operating.md');
});
afterAll(async () => {
  await server.remove();
  await platform.stop();
});

function startToolhub(databaseUrl: string): Promise<LoggedService> {
  return startLogged('toolhub', {
    ...toolhubEnv(platform),
    TOOLHUB_DATABASE_URL: databaseUrl,
    TOOLHUB_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
    DATA_DIR: server.dataDir,
  });
}

test('destroyed, and restored to a second before', { timeout: 180_000 }, async () => {
  const toolhub = await startToolhub(server.url);
  const { customerId, send } = await createCaller(toolhub.url, server.database);
  const { url, database, before, after } = await destroyUnderLoad(server, toolhub, send);
  const calls = before.length;
  expect(await fateOfCalls(database, customerId, before)).toEqual({ stored: calls, audited: calls });
  // It really went back: what came later is not there.
  expect(await fateOfCalls(database, customerId, after)).toEqual({ stored: 0, audited: 0 });

  const { results = 0, kept, calls: byDay } = (await countedOf(database, customerId)) ?? {};
  expect(results).toBeGreaterThanOrEqual(calls);
  expect([kept, byDay]).toEqual([results, results]);

  const again = await startToolhub(url);
  const sent = textsOf(platform).length;
  const [first] = before as [Promised];
  // A repeat gets its first result, and nothing leaves for it.
  await send(again.url, first.key);
  expect(textsOf(platform)).toHaveLength(sent);
  // A new call opens the credential, and is counted behind those of before.
  await send(again.url, 'after the restore');
  expect(textsOf(platform)).toHaveLength(sent + 1);
  expect(await countedOf(database, customerId)).toMatchObject({
    ...{ results: results + 1, kept: results + 1, calls: results + 1 },
  });
  await again.stop();
  console.log(
    `restore of Toolhub: ${calls} calls answered before the target are there, ${after.length} of the second after it are not, each is counted once`,
  );
});
