// Hostile mail servers and hostile mail against a real process, while another customer is served:
// every attack ends in a clear error or a usable answer, nobody waits for it, and memory stays flat. How long others would
// have to wait is the processor time that the process spends in one go; the machine's own load is no part of it.
import type { TestDatabase } from '@libs/db/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, call, makeToken, signUp } from '../../../test/accounts.ts';
import { createToolhubDatabase, type SpawnedInstance, spawnInstance } from '../../../test/instance.ts';
import { IMAP_ATTACKS, mailOf, SMTP_ATTACKS } from './test/attacks.ts';
import {
  fetchAnswer,
  type HostileServer,
  type ImapScript,
  startHostileImap,
} from './test/hostile-imap-server.ts';
import { startHostileSmtp } from './test/hostile-smtp-server.ts';
import { htmlNoise, imapNoise } from './test/noise.ts';

const HELD_MS_MAX = 100;
/** A collection of garbage, or a core that others use, is not what an attack costs: that comes in every turn. */
const TURNS_MAX = 3;
const MEMORY_BYTES_MAX = 192 * 1024 * 1024;
const CHECKS_AT_ONCE = 205;
const GENERATED_RUNS = 25;

interface ToolAnswer {
  isError?: boolean;
  structuredContent: Record<string, unknown> & { error?: { code: string; message: string } };
}

let database: TestDatabase;
let hub: SpawnedInstance;
let honest: { imap: HostileServer; smtp: HostileServer };
/** The scripts of this one are set by the test that uses it. */
let scripted: { server: HostileServer; script: ImapScript };
let imapServers: HostileServer[];
let smtpServers: HostileServer[];
let ada: { account: Account; token: string };
let mallory: { account: Account; token: string };

const credential = (imapPort: number, smtpPort: number, password = 'p') => {
  const server = (port: number) => ({ host: '127.0.0.1', port, secure: false, user: 'u', password });
  return { imap: server(imapPort), smtp: server(smtpPort), from: 'someone@mail.test' };
};

async function newCustomer() {
  const account = await signUp(hub.url);
  const body = { plan: 'scale' };
  const changed = await call(`${hub.url}/api/plan`, { method: 'PUT', body, cookie: account.cookie });
  expect(changed.status).toBe(200);
  return { account, token: (await makeToken(hub.url, account)).token };
}

beforeAll(async () => {
  database = await createToolhubDatabase();
  honest = { imap: await startHostileImap(), smtp: await startHostileSmtp() };
  imapServers = await Promise.all(IMAP_ATTACKS.map(({ script }) => startHostileImap(script)));
  smtpServers = await Promise.all(SMTP_ATTACKS.map(({ script }) => startHostileSmtp(script)));
  const holder = { script: {} as ImapScript };
  const follow = (name: string) => (io: Parameters<Exclude<ImapScript[string], string | Buffer>>[0]) => {
    const reply = holder.script[name];
    return typeof reply === 'function' ? reply(io) : io.write(reply ?? '').then(io.ok);
  };
  const server = await startHostileImap({ LIST: follow('LIST'), 'UID FETCH': follow('UID FETCH') });
  scripted = Object.assign(holder, { server });
  const ports = [honest.imap, honest.smtp, server, ...imapServers, ...smtpServers].map(({ port }) => port);
  const env = {
    TOOLHUB_EGRESS_ALLOW: ports.map((port) => `127.0.0.1:${port}`).join(','),
    TOOLHUB_RATE: '0',
    TOOLHUB_RATE_API: '0',
  };
  hub = await spawnInstance(database.url, { env });
  [ada, mallory] = await Promise.all([newCustomer(), newCustomer()]);
  await connect(ada, credential(honest.imap.port, honest.smtp.port));
}, 60_000);

afterAll(async () => {
  await hub?.stop();
  await Promise.all(
    [honest.imap, honest.smtp, scripted.server, ...imapServers, ...smtpServers].map((server) =>
      server.stop(),
    ),
  );
  await database.drop();
});

async function connect(who: typeof ada, body: unknown, query = '?verify=false'): Promise<number> {
  const { cookie } = who.account;
  const answer = await call(`${hub.url}/api/credentials/email${query}`, { method: 'PUT', body, cookie });
  return answer.status;
}

async function callTool(who: typeof ada, name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
  const answer = await call<{ result?: ToolAnswer }>(`${hub.url}/mcp`, {
    token: who.token,
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  });
  expect(answer.status, name).toBe(200);
  return answer.body.result ?? readEvent((answer.body as { text?: string }).text ?? '');
}

function readEvent(text: string): ToolAnswer {
  return (JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '{}') as { result: ToolAnswer }).result;
}

/** A sign of life, and another customer's call. */
async function probe(): Promise<void> {
  const [alive, folders] = await Promise.all([
    fetch(`${hub.url}/healthz`).then(async (answer) => {
      await answer.text();
      return answer.status;
    }),
    callTool(ada, 'email_list_folders', {}),
  ]);
  expect(alive).toBe(200);
  expect(folders.isError, JSON.stringify(folders.structuredContent)).not.toBe(true);
}

/** Others are served while the attack goes on, and nothing that it makes the process do takes long in one go. */
async function holdsUpNobody(name: string, attack: () => Promise<void>): Promise<void> {
  let heldMs = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < TURNS_MAX && heldMs > HELD_MS_MAX; turn += 1) {
    await hub.longestHoldMs();
    await Promise.all([attack(), probe()]);
    heldMs = Math.min(heldMs, await hub.longestHoldMs());
  }
  expect(heldMs, `${name}: ms of the processor in one go`).toBeLessThanOrEqual(HELD_MS_MAX);
}

async function residentBytes(): Promise<number> {
  const text = await (await fetch(`${hub.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes(?:\{.*\})? (\S+)/m.exec(text)?.[1]);
}

function expectNamedFault(answer: ToolAnswer, attack: string): void {
  const { error } = answer.structuredContent;
  expect(answer.isError, attack).toBe(true);
  expect(['platform_error', 'platform_unavailable'], `${attack}: ${JSON.stringify(error)}`).toContain(
    error?.code,
  );
  expect(error?.message, attack).toMatch(/IMAP|SMTP/);
}

describe('a process that is attacked by mail servers', () => {
  it('[TH-13.20] answers each attack clearly, and others as ever', { timeout: 240_000 }, async () => {
    const before = await residentBytes();
    let most = before;
    for (const [index, attack] of IMAP_ATTACKS.entries()) {
      if (attack.isSlow) continue;
      expect(await connect(mallory, credential(imapServers[index]?.port ?? 0, honest.smtp.port))).toBe(200);
      await holdsUpNobody(attack.name, async () => {
        const answer = await callTool(mallory, attack.tool, attack.args);
        if (attack.ends === 'error') expectNamedFault(answer, attack.name);
        else
          expect(answer.isError, `${attack.name}: ${JSON.stringify(answer.structuredContent)}`).not.toBe(
            true,
          );
      });
      most = Math.max(most, await residentBytes());
    }
    for (const [index, attack] of SMTP_ATTACKS.entries()) {
      if (attack.isSlow) continue;
      expect(await connect(mallory, credential(honest.imap.port, smtpServers[index]?.port ?? 0))).toBe(200);
      await holdsUpNobody(attack.name, async () => {
        const mail = { to: ['x@mail.test'], subject: 's', text: 't' };
        expectNamedFault(await callTool(mallory, 'email_send_message', mail), attack.name);
      });
    }
    expect(most - before, 'bytes of memory that the attacks took').toBeLessThan(MEMORY_BYTES_MAX);
  });

  it('[TH-13.20] takes whatever a generator makes of IMAP and HTML', { timeout: 120_000 }, async () => {
    expect(await connect(mallory, credential(scripted.server.port, honest.smtp.port))).toBe(200);
    await holdsUpNobody('generated', () =>
      fc.assert(
        fc.asyncProperty(imapNoise, htmlNoise, async (noise, html) => {
          scripted.script = {
            LIST: async ({ write, tag }) => write(`${noise}\r\n${tag} OK done\r\n`),
          };
          const listed = await callTool(mallory, 'email_list_folders', {});
          if (listed.isError) expectNamedFault(listed, JSON.stringify(noise.slice(0, 200)));
          scripted.script = { 'UID FETCH': mailOf('generated', html).script['UID FETCH'] as never };
          const read = await callTool(mallory, 'email_get_message', { folder: 'INBOX', uid: 1 });
          expect(read.isError, JSON.stringify(read.structuredContent).slice(0, 500)).not.toBe(true);
        }),
        { numRuns: GENERATED_RUNS },
      ),
    );
  });

  it('[TH-13.20] shows the messages around one that says too much of itself', async () => {
    const { script } = IMAP_ATTACKS.find(({ name }) => name.includes('five thousand people')) as {
      script: ImapScript;
    };
    scripted.script = script;
    const page = await callTool(mallory, 'email_search_messages', {});
    const items = page.structuredContent.items as { uid: number; subject: string }[];
    expect(items.map(({ uid, subject }) => [uid, subject])).toEqual([
      [3, 'message 3'],
      [2, ''],
      [1, 'message 1'],
    ]);
    scripted.script = { 'UID FETCH': async ({ write, ok }) => write(fetchAnswer(1)).then(ok) };
  });

  it('[TH-13.21] gives no customer more than a share of the connections, silent servers included', {
    timeout: 90_000,
  }, async () => {
    const silent = IMAP_ATTACKS.findIndex(({ name }) => name === 'silence instead of a greeting');
    const server = imapServers[silent] as HostileServer;
    const bob = await newCustomer();
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, server.connections());
    }, 5);
    const checks = Promise.all(
      Array.from({ length: CHECKS_AT_ONCE }, (_, index) =>
        connect(mallory, credential(server.port, honest.smtp.port, `password ${index}`), ''),
      ),
    );
    await expect.poll(() => server.connections()).toBeGreaterThan(0);
    // Ada's account has been used before, Bob's has not: both are served while the checks wait.
    expect(await connect(bob, credential(honest.imap.port, honest.smtp.port), '')).toBe(200);
    for (const who of [ada, bob]) {
      expect((await callTool(who, 'email_list_folders', {})).isError).not.toBe(true);
    }
    // The rest need not wait for its silence to become too long.
    await server.stop();
    const statuses = await checks;
    clearInterval(watch);
    expect(most).toBeLessThanOrEqual(8);
    expect(statuses.filter((status) => status < 400 || status >= 600)).toEqual([]);
    expect(statuses).not.toContain(500);
  });
});
