// No call fails while Toolhub is upgraded under load, and each is done and counted once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BotApiServer } from '../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { earlierCommit } from './earlier-release.ts';
import { openUpgrade, type Upgrade } from './rolling-upgrade.ts';
import {
  countedOf,
  countedOnce,
  createCaller,
  fateOfCalls,
  startPlatform,
  textsOf,
  toolhubEnv,
} from './toolhub-load.ts';

const commit = earlierCommit('toolhub');

describe.runIf(commit !== undefined)('a rolling upgrade of Toolhub', () => {
  let platform: BotApiServer;
  let upgrade: Upgrade;

  beforeAll(async () => {
    platform = await startPlatform();
    upgrade = await openUpgrade({ service: 'toolhub', commit: commit as string, env: toolhubEnv(platform) });
  });
  afterAll(async () => {
    await upgrade.end();
    await platform.stop();
  });

  test('fails no call, loses none and counts none twice', { timeout: 180_000 }, async () => {
    const { database } = upgrade.database;
    const { customerId, send } = await createCaller(await upgrade.begin(), database);
    const { load } = await upgrade.roll(send);
    const calls = load.promised.length;
    expect(textsOf(platform).toSorted()).toEqual(load.promised.map(({ key }) => key).toSorted());
    expect(await fateOfCalls(database, customerId, load.promised)).toEqual({ stored: calls, audited: calls });
    expect(await countedOf(database, customerId)).toEqual(countedOnce(calls));
    console.log(
      `upgrade of Toolhub from ${commit?.slice(0, 7)}: ${calls} calls, none failed, each is counted once`,
    );
  });
});
