import type { Transaction } from '@libs/db';
import type { KeyedWork } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendJsonText } from '../api-schema.ts';
import { idempotencyKeyOf } from './key.ts';
import type { Idempotency, IdempotentRequest } from './service.ts';

/** Answers a POST that honours `Idempotency-Key` where it is sent. */
export type ReplyOnce = (
  request: FastifyRequest,
  reply: FastifyReply,
  keyed: KeyedWork<Transaction>,
) => Promise<FastifyReply>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the keys of this route outlive a reset of the sandbox: its own repeat would do it again otherwise. */
    keysOutliveReset?: boolean;
  }
}

/** The tenant id of what belongs to the operator and to no organisation. */
const OPERATOR = 'operator';

/** Whose keys they are: the organisation's, those of a person alone, or the operator's, whoever acts as one. */
function ownerOf({
  caller,
  person,
  routeOptions,
}: FastifyRequest): Pick<IdempotentRequest, 'tenantId' | 'mode'> {
  if (caller !== null) {
    const { id, organisationId, mode } = caller.tenant;
    return { tenantId: routeOptions.config.keysOutliveReset === true ? organisationId : id, mode };
  }
  const isOwn = person !== null && routeOptions.config.declared?.access === 'person';
  return { tenantId: isOwn ? person.userId : OPERATOR, mode: 'live' };
}

/** The place that a key belongs to, in one spelling: `pm%5Fx` names what `pm_x` names, and must not be done a second time. */
function pathOf({ routeOptions: { url = '' }, params }: FastifyRequest): string {
  const values = params as Readonly<Record<string, string>>;
  return url.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

export function createReplyOnce(idempotency: Idempotency): ReplyOnce {
  return async (request, reply, { before, work }) => {
    const answer = await idempotency.once(
      {
        ...ownerOf(request),
        path: pathOf(request),
        key: idempotencyKeyOf(request) ?? null,
        body: request.body,
        before,
      },
      async (tx) => {
        const { status, body } = await work(tx);
        return { status, body: JSON.stringify(body) };
      },
    );
    if (answer.replayed) reply.header('idempotent-replayed', 'true');
    return sendJsonText(reply.code(answer.status), answer.body);
  };
}
