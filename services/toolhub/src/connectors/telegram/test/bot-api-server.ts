import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A Bot API server written from https://core.telegram.org/bots/api: the methods that the connector calls, the
// documented errors, and on demand what goes wrong on the way.

type Fields = Record<string, unknown>;

export type BotApiFailure =
  | { kind: 'flood'; retryAfter: number }
  | { kind: 'status'; status: number }
  | { kind: 'broken_json' }
  | { kind: 'endless' }
  | { kind: 'silent' }
  | { kind: 'drop' };

export interface BotApiCall {
  method: string;
  token: string;
  parameters: Fields;
}

export interface BotApiServer {
  url: string;
  calls: BotApiCall[];
  addBot(token: string, username: string): void;
  revoke(token: string): void;
  addChat(chat: Fields): void;
  /** Queues an update for the bot, as Telegram does when somebody writes. */
  push(token: string, update: Fields): number;
  waiting(token: string): number;
  /** What Telegram does after a week of silence: the next update has any number. */
  renumber(token: string, nextUpdateId: number): void;
  /** The address and secret that the bot was told of; undefined while it is asked. */
  webhook(token: string): { url: string; secret: string } | undefined;
  /** Sends what waits to the bot's address, which `origin` stands in for, until it is taken; the statuses. */
  send(token: string, origin: string): Promise<number[]>;
  failNext(failure: BotApiFailure, method?: string): void;
  /** Each getUpdates takes this long, so that tests can overlap them. */
  setUpdateDelay(delayMs: number): void;
  /** The next call of the method is carried out when it is released, and not before. */
  holdNext(method: string): { reached: Promise<void>; release(): void };
  stop(): Promise<void>;
}

interface Bot {
  id: number;
  username: string;
  updates: Fields[];
  nextUpdateId: number;
  polling: boolean;
  webhook: { url: string; secret: string } | undefined;
  messages: Map<string, Fields>;
}

class BotApiError extends Error {
  readonly status: number;
  readonly parameters: Fields | undefined;

  constructor(status: number, description: string, parameters?: Fields) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

async function readBody(request: IncomingMessage): Promise<Fields> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}') as Fields;
}

export async function startBotApi(): Promise<BotApiServer> {
  const bots = new Map<string, Bot>();
  const chats = new Map<string, Fields>();
  const calls: BotApiCall[] = [];
  const failures: { failure: BotApiFailure; method: string | undefined }[] = [];
  const holds = new Map<string, () => Promise<void>>();
  let updateDelayMs = 0;
  let nextMessageId = 1_000;

  function chatOf(parameters: Fields): Fields {
    const chat = chats.get(String(parameters.chat_id).toLowerCase());
    if (chat === undefined) throw new BotApiError(400, 'Bad Request: chat not found');
    return chat;
  }

  function messageOf(bot: Bot, parameters: Fields): Fields {
    const message = bot.messages.get(`${chatOf(parameters).id}/${parameters.message_id}`);
    if (message === undefined) throw new BotApiError(400, 'Bad Request: message to edit not found');
    return message;
  }

  function post(bot: Bot, parameters: Fields, content: Fields): Fields {
    const chat = chatOf(parameters);
    const message = { message_id: nextMessageId++, date: 1_793_600_000, chat, from: me(bot), ...content };
    bot.messages.set(`${chat.id}/${message.message_id}`, message);
    return message;
  }

  const me = (bot: Bot): Fields => ({ id: bot.id, is_bot: true, first_name: 'Test', username: bot.username });

  async function getUpdates(bot: Bot, parameters: Fields): Promise<Fields[]> {
    if (bot.webhook !== undefined) {
      const description =
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
      throw new BotApiError(409, description);
    }
    if (bot.polling) {
      const description =
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';
      throw new BotApiError(409, description);
    }
    bot.polling = true;
    try {
      await new Promise((resolve) => setTimeout(resolve, updateDelayMs));
      const offset = Number(parameters.offset ?? 0);
      // An offset confirms everything below it.
      bot.updates = bot.updates.filter((update) => Number(update.update_id) >= offset);
      return bot.updates.slice(0, Number(parameters.limit ?? 100));
    } finally {
      bot.polling = false;
    }
  }

  function setWebhook(bot: Bot, parameters: Fields): true {
    const url = String(parameters.url ?? '');
    if (url !== '' && !url.startsWith('https://'))
      throw new BotApiError(400, 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook');
    const secret = String(parameters.secret_token ?? '');
    if (!/^[A-Za-z0-9_-]{0,256}$/.test(secret))
      throw new BotApiError(400, 'Bad Request: secret token contains unallowed characters');
    bot.webhook = url === '' ? undefined : { url, secret };
    return true;
  }

  /** One update after the other; the answer may call a method, as the Bot API allows. */
  async function send(bot: Bot, origin: string): Promise<number[]> {
    const statuses: number[] = [];
    while (bot.webhook !== undefined && bot.updates[0] !== undefined) {
      const response = await fetch(`${origin}${new URL(bot.webhook.url).pathname}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-telegram-bot-api-secret-token': bot.webhook.secret,
        },
        body: JSON.stringify(bot.updates[0]),
      });
      statuses.push(response.status);
      const said = await response.text();
      if (!response.ok) return statuses;
      bot.updates.shift();
      if (said !== '') await answer(bot, String((JSON.parse(said) as Fields).method), {});
    }
    return statuses;
  }

  async function answer(bot: Bot, method: string, parameters: Fields): Promise<unknown> {
    const media = /^send(Photo|Video|Animation|Audio|Voice|Document)$/.exec(method)?.[1]?.toLowerCase();
    if (media !== undefined) {
      if (typeof parameters[media] !== 'string')
        throw new BotApiError(400, `Bad Request: there is no ${media} in the request`);
      return post(bot, parameters, { [media]: { file_id: 'x' }, caption: parameters.caption });
    }
    switch (method) {
      case 'getMe':
        return me(bot);
      case 'getChat':
        return chatOf(parameters);
      case 'getUpdates':
        return getUpdates(bot, parameters);
      case 'setWebhook':
        return setWebhook(bot, parameters);
      case 'deleteWebhook':
        return setWebhook(bot, { url: '' });
      case 'getWebhookInfo':
        return {
          ...{ url: bot.webhook?.url ?? '', has_custom_certificate: false },
          pending_update_count: bot.updates.length,
        };
      case 'sendMessage':
        return post(bot, parameters, { text: parameters.text });
      case 'editMessageText': {
        const message = messageOf(bot, parameters);
        if (message.text === parameters.text) {
          throw new BotApiError(
            400,
            'Bad Request: message is not modified: specified new message content is the same',
          );
        }
        message.text = parameters.text;
        return message;
      }
      case 'deleteMessage':
        messageOf(bot, parameters);
        bot.messages.delete(`${chatOf(parameters).id}/${parameters.message_id}`);
        return true;
      default:
        throw new BotApiError(404, 'Not Found: method not found');
    }
  }

  function fail(next: BotApiFailure, request: IncomingMessage, response: ServerResponse): void {
    switch (next.kind) {
      case 'flood':
        response.statusCode = 429;
        response.end(
          JSON.stringify({
            ok: false,
            error_code: 429,
            description: `Too Many Requests: retry after ${next.retryAfter}`,
            parameters: { retry_after: next.retryAfter },
          }),
        );
        break;
      case 'status':
        response.statusCode = next.status;
        response.end('<html>Bad Gateway</html>');
        break;
      case 'broken_json':
        response.end('{"ok":true,"result":{"id"');
        break;
      case 'endless': {
        response.write('{"ok":true,"result":"');
        const timer = setInterval(() => response.write('x'.repeat(1_000_000)), 1);
        response.on('close', () => clearInterval(timer));
        response.on('error', () => {});
        break;
      }
      case 'silent':
        break;
      case 'drop':
        request.socket.destroy();
        break;
    }
  }

  const server = createServer(async (request, response) => {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    const parameters = await readBody(request);
    calls.push({ method, token, parameters });
    response.setHeader('content-type', 'application/json');
    const hold = holds.get(method);
    holds.delete(method);
    await hold?.();
    const due = failures.findIndex((one) => (one.method ?? method) === method);
    if (due >= 0) {
      const next = (failures.splice(due, 1)[0] as (typeof failures)[number]).failure;
      fail(next, request, response);
      return;
    }
    try {
      const bot = bots.get(token);
      if (bot === undefined) throw new BotApiError(401, 'Unauthorized');
      response.end(JSON.stringify({ ok: true, result: await answer(bot, method, parameters) }));
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error;
      response.statusCode = error.status;
      response.end(JSON.stringify({ ok: false, error_code: error.status, description: error.message }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    addBot(token, username) {
      const id = Number(token.split(':')[0]);
      bots.set(token, {
        id,
        username,
        updates: [],
        nextUpdateId: 1,
        polling: false,
        webhook: undefined,
        messages: new Map(),
      });
    },
    revoke: (token) => void bots.delete(token),
    addChat(chat) {
      chats.set(String(chat.id), chat);
      if (typeof chat.username === 'string') chats.set(`@${chat.username.toLowerCase()}`, chat);
    },
    push(token, update) {
      const bot = bots.get(token) as Bot;
      const updateId = bot.nextUpdateId++;
      bot.updates.push({ update_id: updateId, ...update });
      return updateId;
    },
    webhook: (token) => bots.get(token)?.webhook,
    send: (token, origin) => send(bots.get(token) as Bot, origin),
    renumber(token, nextUpdateId) {
      (bots.get(token) as Bot).nextUpdateId = nextUpdateId;
    },
    waiting: (token) => bots.get(token)?.updates.length ?? 0,
    failNext(next, method) {
      failures.push({ failure: next, method });
    },
    holdNext(method) {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      holds.set(method, () => {
        reached.resolve();
        return released.promise;
      });
      return { reached: reached.promise, release: released.resolve };
    },
    setUpdateDelay(delayMs) {
      updateDelayMs = delayMs;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
