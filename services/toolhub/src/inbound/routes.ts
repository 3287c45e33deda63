import type { App } from '@libs/http';
import { baseErrors } from '@libs/runtime';
import { equalSecrets } from '@libs/seal';
import { errors } from '../errors.ts';
import type { RoutesOn, ToolhubRoutes } from '../route-rules.ts';
import { registerInboundAppRoutes } from './apps/routes.ts';
import type { InboundApps } from './apps/service.ts';
import type { InboundService } from './service.ts';
import { hasValidSignature } from './signature.ts';
import { registerTelegramWebhook, type TelegramWebhookDependencies } from './telegram-webhook.ts';

export interface InboundRoutesDependencies {
  inbound: Pick<InboundService, 'accept'>;
  routesOn: RoutesOn;
  arrivals: Pick<InboundApps, 'apps' | 'accept'>;
  telegram: TelegramWebhookDependencies;
  now: () => Date;
  whatsapp: { readonly appSecret: string | undefined; readonly verifyToken: string | undefined };
}

const PATH = '/webhooks/whatsapp';
const declared = { access: 'public', rate: 'none', audit: 'none', schema: { hide: true } } as const;
const NOT_CONFIGURED = 'The operator has not configured messages from WhatsApp.';
/** WhatsApp sends up to 3 MB at once. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;
const CHALLENGE_CHARACTERS_MAX = 1_024;

/**
 * The vendor speaks here and no customer, so there is no token but a signature, and the reference for customers does
 * not show these routes.
 */
export async function registerInboundRoutes(app: App, deps: InboundRoutesDependencies): Promise<void> {
  registerCheck(deps.routesOn(app), deps);
  // A scope of its own: here, and nowhere else, a body stays the bytes that arrived.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    const routes = deps.routesOn(scope as App);
    registerDelivery(routes, deps);
    registerInboundAppRoutes(routes, deps);
    registerTelegramWebhook(routes, deps.telegram);
  });
}

function registerCheck(routes: ToolhubRoutes, { whatsapp }: InboundRoutesDependencies): void {
  routes.get(PATH, { ...declared, idempotency: 'safe' }, async (request, reply) => {
    if (whatsapp.verifyToken === undefined) throw errors.not_configured({ detail: NOT_CONFIGURED });
    const query = request.query as Record<string, unknown>;
    const token = query['hub.verify_token'];
    const isOurs = typeof token === 'string' && equalSecrets(token, whatsapp.verifyToken);
    if (query['hub.mode'] !== 'subscribe' || !isOurs) throw errors.verification_failed();
    const challenge = query['hub.challenge'];
    if (typeof challenge !== 'string' || challenge.length > CHALLENGE_CHARACTERS_MAX)
      throw baseErrors.invalid_query({
        errors: [{ parameter: 'hub.challenge', code: 'required', detail: 'Must be sent once.' }],
      });
    return reply.type('text/plain; charset=utf-8').send(challenge);
  });
}

function registerDelivery(routes: ToolhubRoutes, { inbound, whatsapp }: InboundRoutesDependencies): void {
  // Repeats are recognised by the ids of the messages in them.
  routes.post(
    PATH,
    { ...declared, idempotency: 'natural', bodyLimit: BODY_BYTES_MAX },
    async (request, reply) => {
      if (whatsapp.appSecret === undefined) throw errors.not_configured({ detail: NOT_CONFIGURED });
      const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
      const header = request.headers['x-hub-signature-256'];
      const signature = typeof header === 'string' ? header : '';
      if (!hasValidSignature(body, signature, whatsapp.appSecret))
        throw errors.invalid_signature({ headers: { 'www-authenticate': 'X-Hub-Signature-256' } });
      await inbound.accept({ body, signature });
      return reply.code(200).send();
    },
  );
}
