// `npm run vendors` as a newcomer meets it: it says where everything is, every platform is connected and answers a tool, and
// it ends when it is told to.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestDatabase } from '@libs/db/testing';
import { freePort } from '@libs/runtime/testing';
import { expect, test } from 'vitest';
import { callTool, rpc } from '../../services/toolhub/src/mcp/test/rig.ts';
import { createToolhubDatabase } from '../../services/toolhub/test/instance.ts';

const READS: Record<string, Record<string, unknown>> = {
  email_list_folders: {},
  whatsapp_list_templates: {},
  telegram_list_messages: {},
  slack_list_channels: {},
  discord_list_servers: {},
  x_get_profile: {},
  linkedin_get_profile: {},
  facebook_list_pages: {},
  instagram_list_media: {},
  bluesky_get_timeline: {},
  mastodon_get_timeline: { kind: 'home' },
};

test('everything starts, is connected, answers, and ends', async () => {
  const database: TestDatabase = await createToolhubDatabase();
  const port = await freePort();
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fileURLToPath(new URL('./main.ts', import.meta.url))],
    {
      env: {
        ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
        ...{ TOOLHUB_DATABASE_URL: database.url, TOOLHUB_PORT: String(port) },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = once(child, 'exit');
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  try {
    await expect.poll(() => said, { timeout: 60_000, interval: 100 }).toContain('Ready.');
    const url = `http://localhost:${port}`;
    const token = /token +(thp_\S+)/.exec(said)?.[1] ?? '';
    const { body } = await rpc(url, token, { method: 'tools/list' });
    expect(body.result?.tools).toHaveLength(85);
    for (const [tool, args] of Object.entries(READS)) {
      const answer = await callTool(url, token, tool, args);
      expect(answer.body.result?.isError, `${tool}: ${JSON.stringify(answer.body)}`).toBeUndefined();
    }
    // Each goes by the name that its platform has for it, also after the tools have renewed what they open it with.
    const ask = async (path: string) =>
      (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
    const { platforms } = (await ask('/api/health/platforms')) as { platforms: { status: string }[] };
    expect(platforms.filter(({ status }) => status !== 'ok')).toEqual([]);
    const { data } = (await ask('/api/credentials?limit=100')) as { data: { account: string }[] };
    expect(data).toHaveLength(Object.keys(READS).length);
    expect(data.filter(({ account }) => /^an? |unknown/.test(account))).toEqual([]);
    // Somebody wrote by WhatsApp and by mail, so that there is somebody to answer and something to open.
    const conversations = () => callTool(url, token, 'whatsapp_list_conversations', {});
    const contactOf = async () => {
      const { result } = (await conversations()).body;
      return (result?.structuredContent as { items: { contact: string }[] } | undefined)?.items[0]?.contact;
    };
    await expect.poll(contactOf, { interval: 200 }).toBe('16315551234');
    const writes: [tool: string, args: Record<string, unknown>][] = [
      ['whatsapp_send_message', { to: '16315551234', text: 'Until six.' }],
      ['email_get_attachment', { folder: 'INBOX', uid: 1, part_id: '2' }],
    ];
    for (const [tool, args] of writes) {
      const answer = await callTool(url, token, tool, args);
      expect(answer.body.result?.isError, `${tool}: ${JSON.stringify(answer.body)}`).toBeUndefined();
    }
    const page = await (await fetch(/slack +(http\S+)/.exec(said)?.[1] ?? '')).text();
    expect(page).toContain('/conversations.list');
    expect(await (await fetch(/telegram +(http\S+)/.exec(said)?.[1] ?? '')).text()).toContain('getUpdates');
  } finally {
    child.kill('SIGTERM');
    const [code] = await exited;
    await database.drop();
    expect(code).toBe(0);
  }
}, 120_000);
