import { type Connector, defineConnector } from '../connector.ts';
import { probeBy, verifyBy } from '../vendor-api/probe.ts';
import {
  asObject,
  botIdOf,
  callTelegram,
  TELEGRAM_URL,
  type TelegramContext,
  type TelegramCredential,
  telegramCredentialSchema,
  textOrNull,
} from './api.ts';
import { claimBot, collectAndTell, forgetCustomer } from './inbound.ts';
import { telegramTools } from './tools.ts';
import { botKeyOf } from './updates.ts';
import { leaveTelegram, receiveUpdate } from './webhook.ts';

export function createTelegramConnector(): Connector {
  return defineConnector<TelegramCredential>({
    id: 'telegram',
    title: 'Telegram',
    apiUrl: TELEGRAM_URL,
    auth: {
      kind: 'token',
      credentialSchema: telegramCredentialSchema,
      secretFields: ['/bot_token'],
      accountLabel: (credential) => `bot ${botIdOf(credential)}`,
    },
    verify: (context) => verifyBy(() => readOwnName(context)),
    health: (context) => probeBy(() => readOwnName(context)),
    collect: collectAndTell,
    receive: receiveUpdate,
    tools: telegramTools(),
    claim: claimBot,
    leave: (context) => leaveTelegram(context, botKeyOf(context)),
    forget: forgetCustomer,
  });
}

async function readOwnName(context: TelegramContext): Promise<string> {
  const username = textOrNull(asObject(await callTelegram(context, 'getMe')).username);
  return username === null ? `bot ${botIdOf(context.credential)}` : `@${username}`;
}
