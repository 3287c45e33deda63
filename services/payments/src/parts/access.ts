import { openChanges } from '@libs/db';
import { createReplyOnce, type ReplyOnce } from '../idempotency/reply.ts';
import { createIdempotency, type Idempotency } from '../idempotency/service.ts';
import { createGates, type Gates } from '../keys/access.ts';
import { registerAdminRoutes } from '../keys/routes.ts';
import { createKeyService, type KeyService } from '../keys/service.ts';
import type { Base, Part } from './base.ts';

export type AccessPart = Part & {
  /** What declared routes ask of a caller. */
  gates: Gates;
  keys: KeyService;
  idempotency: Idempotency;
  replyOnce: ReplyOnce;
};

/** Organisations and their keys: who may come in, how often, and that a repeated request does nothing twice. */
export async function addAccess(base: Base): Promise<AccessPart> {
  const { config, database, rates, sealer, adminToken, newId, randomBytes, now, onError } = base;
  const nowMs = () => performance.now();
  const changes = await openChanges({
    database,
    onError: (error) => onError(error, { where: 'changes' }),
  });
  const keys = createKeyService({
    ...{ database, changes, newId, randomBytes, now, nowMs },
    sandboxOn: config.sandbox.on,
  });
  await keys.ensureSandbox();
  const limits = {
    live: rates.limit({ name: 'live', limit: config.rates.live }),
    test: rates.limit({ name: 'test', limit: config.rates.test }),
  };
  const gates = createGates({ keys, rates: limits, adminToken });
  const idempotency = createIdempotency({ databases: base.databases, sealer, now });
  const replyOnce = createReplyOnce(idempotency);
  return {
    ...{ gates, keys, idempotency, replyOnce },
    routes: (_app, routes) => registerAdminRoutes(routes, { keys, now }),
    handlers: [],
    cron: [],
    close: () => changes.close(),
  };
}
