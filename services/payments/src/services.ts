import { randomUUID } from 'node:crypto';
import type { Database } from '@libs/db';
import { postgresRateStore, RateLimits } from '@libs/http';
import type { NewId, RandomBytes, Sealer } from '@libs/seal';
import type { PaymentsConfig } from './config.ts';
import { createInvalidations } from './invalidation/service.ts';
import { type Access, createAccess } from './keys/access.ts';
import { createKeyService, type KeyService } from './keys/service.ts';

/** What `main.ts` brings from the outside world, and tests replace. */
export interface Dependencies {
  config: PaymentsConfig;
  database: Database;
  sealer: Sealer;
  adminToken: string;
  /** Real time; the organisation's own time is the sandbox clock's. */
  now: () => Date;
  newId: NewId;
  randomBytes: RandomBytes;
  onError: (error: unknown, context: { where: string }) => void;
}

/** Every feature's service, made once per process and shared by the routes and the workers. */
export interface Services {
  access: Access;
  keys: KeyService;
  close(): Promise<void>;
}

export async function createServices(dependencies: Dependencies): Promise<Services> {
  const { config, database, now, newId, randomBytes, onError } = dependencies;
  const processId = randomUUID();
  const nowMs = () => performance.now();
  const rateLimits = new RateLimits({
    store: postgresRateStore({ query: (text, values) => database.query(text, values), schema: database.schema }),
    processId,
    onError: (error) => onError(error, { where: 'rate limits' }),
  });
  await rateLimits.start();
  const invalidations = await createInvalidations({
    database,
    processId,
    nowMs,
    onError: (error) => onError(error, { where: 'invalidation' }),
  });
  const keys = createKeyService({
    database,
    invalidations,
    sandboxOn: config.sandbox.on,
    now,
    nowMs,
    newId,
    randomBytes,
  });
  await keys.ensureSandbox();
  const access = createAccess({
    keys,
    rates: {
      live: rateLimits.limit({ name: 'live', limit: config.rates.live }),
      test: rateLimits.limit({ name: 'test', limit: config.rates.test }),
    },
  });

  return {
    access,
    keys,
    async close() {
      await rateLimits.close();
      await invalidations.close();
    },
  };
}
