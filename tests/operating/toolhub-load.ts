import type { Queryable } from '@libs/db';
import {
  type BotApiServer,
  startBotApi,
} from '../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { callTool } from '../../services/toolhub/src/mcp/test/rig.ts';
import { call, makeToken, signUp } from '../../services/toolhub/test/accounts.ts';
import type { Promised, Send } from './load.ts';

const BOT = '4242:AAE_abcdefghijklmnopqrstuvwxyz012345';
const CHAT = 7;
const TOOL = 'telegram_send_message';
/** Beyond what a load calls in a month of the smallest one. */
const PLAN = 'scale';

/** The platform that all calls go to. */
export async function startPlatform(): Promise<BotApiServer> {
  const platform = await startBotApi();
  platform.addBot(BOT, 'my_bot');
  platform.addChat({ id: CHAT, type: 'private', first_name: 'Ada' });
  return platform;
}

/** The texts that arrived there, in their order. */
export function textsOf({ calls }: BotApiServer): unknown[] {
  return calls.filter(({ method }) => method === 'sendMessage').map(({ parameters }) => parameters.text);
}

/** What a process needs beside its database and its key. */
export function toolhubEnv(platform: BotApiServer): Record<string, string> {
  return {
    // Callers use the address of the machine, as they do without a proxy.
    TOOLHUB_PUBLIC_URL: '',
    TOOLHUB_RATE: '0',
    TOOLHUB_RATE_API: '0',
    TOOLHUB_RATE_ADDRESS: '0',
    TOOLHUB_LOG_LEVEL: 'error',
    TOOLHUB_CONNECTOR_TELEGRAM_URL: platform.url,
    TOOLHUB_EGRESS_ALLOW: new URL(platform.url).host,
    NODE_ENV: 'development',
  };
}

export interface Caller {
  customerId: string;
  send: Send;
}

/** A customer with a connected account, whose assistant sends one message with each call. */
export async function createCaller(url: string, database: Queryable): Promise<Caller> {
  const account = await signUp(url);
  await database.query('update toolhub.customers set plan = $2 where id = $1', [account.id, PLAN]);
  const { token } = await makeToken(url, account);
  const connected = await call(`${url}/api/credentials/telegram`, {
    method: 'PUT',
    cookie: account.cookie,
    body: { bot_token: BOT },
  });
  if (connected.status !== 200) throw new Error(`the account was not taken: ${connected.status}`);
  return {
    customerId: account.id,
    async send(address, key) {
      const { status, headers, body } = await callTool(address, token, TOOL, {
        ...{ chat_id: CHAT, text: key, idempotency_key: key },
      });
      if (status !== 200 || body.result === undefined || body.result.isError === true)
        throw new Error(`${status} ${JSON.stringify(body.result?.structuredContent?.error ?? body)}`);
      return headers.get('x-request-id') ?? '';
    },
  };
}

export interface CallsFate {
  /** Calls of which the result, and of which the entry in the audit log, is there. */
  stored: number;
  audited: number;
}

export async function fateOfCalls(
  database: Queryable,
  customerId: string,
  promised: readonly Promised[],
): Promise<CallsFate | undefined> {
  const { rows } = await database.query<CallsFate>(
    `select (select count(*) from toolhub.idempotent_calls
       where customer_id = $1 and tool = $2 and key = any($3) and result is not null)::int as stored,
     (select count(distinct request_id) from toolhub.audit_entries
       where customer_id = $1 and action = 'tool.call' and outcome = 'success' and request_id = any($4))::int as audited`,
    [customerId, TOOL, promised.map(({ key }) => key), promised.map(({ id }) => id)],
  );
  return rows[0];
}

/** Whatever is known of the customer's calls, each by its own table. */
export interface CallsCounted {
  results: number;
  entries: number;
  /** Units used and kept in the month, and calls by day. */
  used: number;
  kept: number;
  calls: number;
}

export async function countedOf(database: Queryable, customerId: string): Promise<CallsCounted | undefined> {
  const { rows } = await database.query<CallsCounted>(
    `select (select count(*) from toolhub.idempotent_calls
       where customer_id = $1 and result is not null)::int as results,
     (select count(*) from toolhub.audit_entries where customer_id = $1 and action = 'tool.call')::int as entries,
     (select coalesce(sum(used), 0) from toolhub.usage_counters where customer_id = $1)::int as used,
     (select coalesce(sum(kept), 0) from toolhub.usage_counters where customer_id = $1)::int as kept,
     (select coalesce(sum(calls), 0) from toolhub.usage_daily where customer_id = $1)::int as calls`,
    [customerId],
  );
  return rows[0];
}

/** The same number everywhere: what was counted once. */
export const countedOnce = (calls: number): CallsCounted => ({
  ...{ results: calls, entries: calls, used: calls, kept: calls, calls },
});
