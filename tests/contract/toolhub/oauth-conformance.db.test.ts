// The official conformance suite's scenarios for authorization servers, with the person at the browser played here.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, signUp } from '../../../services/toolhub/test/accounts.ts';
import { decide, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { type LoneInstance, startAlone } from '../../../services/toolhub/test/instance.ts';

let instance: LoneInstance;
let account: Account;
let folder: string;

beforeAll(async () => {
  instance = await startAlone();
  account = await signUp(instance.url);
  folder = await mkdtemp(join(tmpdir(), 'conformance-'));
});

afterAll(async () => {
  await instance.stop();
  await rm(folder, { recursive: true, force: true });
});

test('[TH-4] all scenarios of the conformance suite for authorization servers pass', async () => {
  const { url } = instance;
  const port = await freePort();
  const client = await registerClient(url, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
  const settings = [
    '--url',
    url,
    '--client-id',
    client.client_id,
    '--resource',
    `${url}/mcp`,
    '--port',
    String(port),
  ];
  const child = spawn(process.execPath, [suite, 'authorization', ...settings], {
    cwd: folder,
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let output = '';
  let asked: Promise<unknown> | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    const address = new RegExp(`^${url}/oauth/authorize\\?\\S+$`, 'm').exec(output)?.[0];
    if (address !== undefined) asked ??= decide(account, address).then((callback) => fetch(callback));
  });
  const [code] = await exited;
  await asked;
  expect(output).toContain('Total: 3 passed, 0 failed');
  expect(code).toBe(0);
}, 60_000);
