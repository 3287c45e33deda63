// Kills of the process under load: whatever was told to be done is counted, and nothing is done twice.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBotApi } from '../../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import { createToolhubDatabase, spawnInstance } from '../../../services/toolhub/test/instance.ts';

const BOT = '4242:AAE_abcdefghijklmnopqrstuvwxyz012345';
/** `npm run faults` kills more often; each kill costs a start of the whole service. */
const KILLS = Number(process.env.FAULTS_KILLS ?? 1);
/** All of them together stay within the thousand calls of the smallest plan, beyond which nothing more would leave. */
const CALLS_PER_ROUND = Math.min(80, Math.floor(900 / KILLS));
const LANES = 16;

let database: TestDatabase;
let api: Awaited<ReturnType<typeof startBotApi>>;

beforeAll(async () => {
  [database, api] = await Promise.all([createToolhubDatabase(), startBotApi()]);
  api.addBot(BOT, 'my_bot');
  api.addChat({ id: 7, type: 'private', first_name: 'Ada' });
});

afterAll(async () => {
  await api.stop();
  await database.drop();
});

const start = () =>
  spawnInstance(database.url, { env: { TOOLHUB_RATE: '0', TOOLHUB_CONNECTOR_TELEGRAM_URL: api.url } });

test(
  '[TH-7.14] every success of a key is counted once, however often the process is killed',
  async () => {
    let hub = await start();
    const account = await signUp(hub.url);
    const { token } = await makeToken(hub.url, account);
    await call(`${hub.url}/api/credentials/telegram`, {
      method: 'PUT',
      cookie: account.cookie,
      body: { bot_token: BOT },
    });
    const told = new Map<string, boolean>();

    async function send(key: string): Promise<void> {
      const answer = await callTool(hub.url, token, 'telegram_send_message', {
        ...{ chat_id: 7, text: `letter ${key}`, idempotency_key: key },
      }).catch(() => undefined);
      const result = answer?.body.result;
      if (result !== undefined) told.set(key, result.isError !== true);
    }
    /** Several at a time, as an assistant that is busy sends them. */
    async function sendAll(keys: readonly string[]): Promise<void> {
      const left = [...keys];
      const lane = async () => {
        for (let key = left.shift(); key !== undefined; key = left.shift()) await send(key);
      };
      await Promise.all(Array.from({ length: LANES }, lane));
    }

    for (let round = 0; round < KILLS; round += 1) {
      const keys = Array.from({ length: CALLS_PER_ROUND }, (_, n) => `r${round}-${n}`);
      const before = api.calls.length;
      const load = sendAll(keys);
      await expect.poll(() => api.calls.length, { interval: 1 }).toBeGreaterThan(before + 20);
      await hub.kill();
      await load;
      // Its lease would end in a minute; nobody has to wait for that here.
      await database.database.query(`update call_holders set expires_at = '-infinity'`);
      hub = await start();
      await sendAll(keys.filter((key) => !told.has(key)));
    }
    const counted = await database.database.query<{ kept: number }>(
      'select kept from usage_counters where customer_id = $1',
      [account.id],
    );
    const stored = await database.database.query<{ key: string }>(
      `select key from idempotent_calls where customer_id = $1 and result is not null and result not like '%"isError":true%'`,
      [account.id],
    );
    const successes = [...told].filter(([, isSuccess]) => isSuccess).map(([key]) => key);
    expect(told.size).toBe(KILLS * CALLS_PER_ROUND);
    expect(stored.rows.map(({ key }) => key).sort()).toEqual(successes.sort());
    expect(counted.rows[0]?.kept).toBe(successes.length);
    const texts = api.calls
      .filter(({ method }) => method === 'sendMessage')
      .map(({ parameters }) => parameters.text);
    expect(new Set(texts).size).toBe(texts.length);
    await hub.stop();
  },
  60_000 + KILLS * 30_000,
);
