import type { Database } from '@libs/db';
import { readJson } from '@libs/http';
import type { ConnectorService } from '../connectors/service.ts';
import { errors } from '../errors.ts';
import type { EmitEvent } from '../events/event.ts';
import type { ToolhubRoutes } from '../route-rules.ts';

export interface TelegramWebhookDependencies {
  database: Database;
  connectors: Pick<ConnectorService, 'find'>;
  emitEvent: EmitEvent;
}

const declared = { access: 'public', rate: 'none', audit: 'none', schema: { hide: true } } as const;
/** An update is one message, whose text has 4,096 characters; media are named, not sent. */
const BODY_BYTES_MAX = 1024 * 1024;

/** Where Telegram sends the messages of a bot. Each bot has an address and a secret of its own. */
export function registerTelegramWebhook(
  routes: ToolhubRoutes,
  { database, connectors, emitEvent }: TelegramWebhookDependencies,
): void {
  // A repeat is recognised by the message and the number of its update.
  routes.post(
    '/webhooks/telegram/:hook',
    { ...declared, idempotency: 'natural', bodyLimit: BODY_BYTES_MAX },
    async (request, reply) => {
      const { hook: hookId } = request.params as { hook: string };
      const receive = connectors.find('telegram')?.receive;
      if (receive === undefined) throw errors.not_found();
      const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
      const answer = await receive(
        { database, hookId, headers: request.headers, payload: () => readJson(body).value },
        (tx, customerId, data) => emitEvent(tx, { customerId, type: 'telegram.message.received', data }),
      );
      if (answer.kind === 'unknown') throw errors.not_found();
      if (answer.kind === 'refused')
        throw errors.invalid_signature({
          headers: { 'www-authenticate': 'X-Telegram-Bot-Api-Secret-Token' },
        });
      return reply.code(200).send(answer.body);
    },
  );
}
