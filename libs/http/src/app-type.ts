import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Metrics } from '@libs/runtime';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { OpenApiDocument } from './openapi/schema.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Before a stop: not ready any more, and yet whoever still sends is served, until nobody does (bounded). */
    leave(): Promise<void>;
    /** Stops gracefully: answers what is open (bounded), refuses what is new, closes. */
    drain(options?: {
      timeoutMs?: number;
      /** By then a request that is on its way has to be here as a whole. */
      unfinishedMs?: number;
    }): Promise<void>;
    /** Aborted when draining begins; long answers (event streams) must end then. */
    drainSignal: AbortSignal;
    /** Prometheus registry behind `/metrics`; services add their own metrics to it. */
    metrics: Metrics;
    /** The OpenAPI document of the routes; absent where there is no reference. */
    openapi(): OpenApiDocument;
  }
  interface FastifyContextConfig {
    /** A catch-all such as the pages of a dashboard: it does not make other methods on its paths a 405. */
    catchAll?: boolean;
    /** Also answered while draining (health). */
    whileDraining?: boolean;
  }
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
