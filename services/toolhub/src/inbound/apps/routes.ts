import { readJson } from '@libs/http';
import { baseErrors } from '@libs/runtime';
import { errors } from '../../errors.ts';
import type { ToolhubRoutes } from '../../route-rules.ts';
import { PayloadError } from '../payload.ts';
import type { InboundApp, Receipt } from './app.ts';
import type { InboundApps } from './service.ts';

export interface InboundAppsRoutesDependencies {
  arrivals: Pick<InboundApps, 'apps' | 'accept'>;
  now: () => Date;
}

const declared = { access: 'public', rate: 'none', audit: 'none', schema: { hide: true } } as const;
const BODY_BYTES_MAX = 1024 * 1024;

/** Bodies stay the bytes that arrived: the scope that this is registered in parses none. */
export function registerInboundAppRoutes(
  routes: ToolhubRoutes,
  { arrivals, now }: InboundAppsRoutesDependencies,
): void {
  // Repeats are recognised by the id of the delivery.
  for (const app of arrivals.apps)
    routes.post(
      `/webhooks/${app.platform}`,
      { ...declared, idempotency: 'natural', bodyLimit: BODY_BYTES_MAX },
      async (request, reply) => {
        if (!app.isConfigured)
          throw errors.not_configured({
            detail: `The operator has not configured messages from ${app.title}.`,
          });
        const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
        const signature = app.signatureOf(request.headers, body, now());
        if (signature === null)
          throw errors.invalid_signature({ headers: { 'www-authenticate': app.scheme } });
        const receipt = read(app, body);
        if (receipt.kind === 'kept') {
          const { deliveryId } = receipt;
          await arrivals.accept({ platform: app.platform, deliveryId, body, signature });
        }
        return reply.code(200).send(receipt.body);
      },
    );
}

/** What is signed and yet no delivery is the vendor's mistake, or the operator's: it is told so and not kept. */
function read(app: InboundApp, body: Buffer): Receipt {
  try {
    return app.receive(readJson(body).value, body);
  } catch (error) {
    if (error instanceof PayloadError)
      throw baseErrors.invalid_json({ detail: `This is not what ${app.title} sends: ${error.message}.` });
    throw error;
  }
}
