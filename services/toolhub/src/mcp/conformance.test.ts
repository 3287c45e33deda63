import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spawn } from 'node:child_process';
import { conformanceFixtures } from './test/conformance-fixtures.ts';
import { testPlatform } from './test/platform.ts';
import { addCustomer, createToolhubDatabase, customerSession, type Instance, startInstance } from './test/rig.ts';
let db: TestDatabase;
let hub: Instance;
beforeAll(async () => {
  db = await createToolhubDatabase();
  await addCustomer(db.database, 'cus_1');
  hub = await startInstance({ databaseUrl: db.url, connectors: [testPlatform('alpha').connector], tokens: new Map(), extension: conformanceFixtures, anonymous: customerSession('cus_1') });
});
afterAll(async () => {
  await hub?.close();
  await db?.drop();
});
test('x', async () => {
  for (const rev of ['2026-07-28', '2025-11-25']) {
    const t = performance.now();
    const child = spawn(process.execPath, ['node_modules/@modelcontextprotocol/conformance/dist/index.js', 'server', '--url', `${hub.url}/mcp`, '--requirements', rev, '-o', `/tmp/c-trial/conf-${rev}`], { stdio: 'inherit' });
    await new Promise((r) => child.on('exit', r));
    console.log(rev, performance.now() - t);
  }
  console.log(hub.errors);
}, 300000);
