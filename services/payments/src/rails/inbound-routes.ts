import type { Database } from '@libs/db';
import type { App } from '@libs/http';
import { enqueueJobs } from '@libs/jobs';
import { equalSecrets } from '@libs/seal';
import Type from 'typebox';
import { errors } from '../errors.ts';
import { bearerToken, unauthorized } from '../keys/access.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Rail, RailInbound } from './rail.ts';

/** A status report has a few kilobytes; what is much larger is none. */
const MESSAGE_BYTES_MAX = 256 * 1024;
/** The names of elements may be as long as the message. */
const REASON_LENGTH_MAX = 300;

export interface RailInboundRouteDependencies {
  database: Pick<Database, 'transaction' | 'schema'>;
  rails: readonly Pick<Rail, 'id' | 'inbound'>[];
  declare: (app: App) => PaymentsRoutes;
}

/** Where networks send what they have to say by themselves. What is stored is answered for; reading it comes after. */
export function registerRailInboundRoutes(app: App, deps: RailInboundRouteDependencies): void {
  for (const { id, inbound } of deps.rails) {
    if (inbound === null) continue;
    // A scope of its own: here, and nowhere else, a body stays the bytes that arrived.
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
      registerInbound(deps.declare(scope as App), deps, { path: `/v1/network/${id}`, inbound });
    });
  }
}

function registerInbound(
  routes: PaymentsRoutes,
  { database }: RailInboundRouteDependencies,
  { path, inbound }: { path: string; inbound: RailInbound },
): void {
  routes.post(
    path,
    {
      // The network's gateway has a token of its own, which is no key of anybody's.
      ...{ access: 'public', rate: 'none', audit: 'none', idempotency: 'natural' },
      preParsing(request, _reply, _payload, done) {
        const token = bearerToken(request.headers.authorization);
        const isGateway = token !== undefined && equalSecrets(token, inbound.token);
        done(isGateway ? null : unauthorized());
      },
      bodyLimit: MESSAGE_BYTES_MAX,
      codes: ['unauthorized', 'network_message_unknown'],
      schema: {
        security: [{ gatewayToken: [] }],
        consumes: 'application/xml',
        operationId: 'network.deliver',
        summary: 'Take a message of the network',
        description:
          "For the network's gateway: the message as the body. It is stored before the answer and read after it; the same message again changes nothing.",
        tags: ['Admin'],
        response: {
          202: Type.Object({ object: Type.Literal('network_message') }, { title: 'NetworkMessage' }),
        },
      },
    },
    async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const found = inbound.jobsFor(body);
      if (!found.ok)
        throw errors.network_message_unknown({
          detail: `This is no message that the network sends (${found.reason.slice(0, REASON_LENGTH_MAX)}).`,
        });
      await database.transaction((tx) => enqueueJobs(tx, database.schema, found.jobs));
      return reply.code(202).send({ object: 'network_message' });
    },
  );
}
