import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  ContextConfigDefault,
  FastifyBaseLogger,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  HTTPMethods,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
  RouteShorthandOptions,
} from 'fastify';
import Type from 'typebox';
import type { App } from './app-type.ts';
import { refuseFields } from './input/unread-body.ts';
import { type AuditedCall, auditHook, type RouteAudit } from './route-audit.ts';

/** A hook before the body is read: it lets the request pass, or throws the refusal. May answer without a promise. */
export type Gatekeeper = (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>;

/**
 * What a repeat of the call does: `safe` changes nothing ever; `natural` leaves what the first call left (PUT, DELETE);
 * `keyed` honours `Idempotency-Key` where it is sent, the handler works in the transaction that keeps its answer;
 * `keyed_by_handler` does so by itself; `repeats` does it again.
 */
export type Idempotency = 'safe' | 'natural' | 'keyed' | 'keyed_by_handler' | 'repeats';

/** What a keyed handler answers with; the body becomes JSON once, and a repeat gets the same bytes. */
export type RouteAnswer = { status: number; body: unknown };

/** `before` is what must not be waited for within the transaction, or counts tries: it lets the work be done, or throws. */
export type KeyedWork<Tx> = { before: (() => Promise<void>) | null; work: (tx: Tx) => Promise<RouteAnswer> };

/** How one service understands the decisions of its routes: each is done in one place. */
export type RouteRules<Access extends string, Rate extends string, Tx> = {
  /** Who calls: finds the caller, and refuses strangers (401). Null where nobody asks. */
  identify(need: Access): Gatekeeper | null;
  /** How often the caller may (429). Comes before `permit`, so that refusals are limited too. Null is not limited. */
  rate(rateClass: Rate): Gatekeeper | null;
  /** Whether this caller may (403). Null where everybody who was identified may. */
  permit(need: Access): Gatekeeper | null;
  /** Writes one line of the audit log; the answer leaves when it has resolved. Must not reject. */
  audit(request: FastifyRequest, call: AuditedCall): Promise<void> | void;
  /** Does the work once per key and answers; where no key was sent, simply does it. A repeat is not asked `before`. */
  once(request: FastifyRequest, reply: FastifyReply, keyed: KeyedWork<Tx>): Promise<unknown>;
  /** Whether routes that read no body refuse the fields of one, and those that read no query its parameters; otherwise they pass over them. */
  refusesUnreadFields?: boolean;
  /** The reference's view of `access`: the security schemes that let a caller in. */
  security?(need: Access): Record<string, string[]>[];
  /** The reference's view of the decisions: the codes by which these rules refuse. */
  codes?(route: DecidedRoute<Access, Rate>): readonly string[];
  /** The reference's view of the decisions: the shared parameters that these rules read. */
  parameters?(route: DecidedRoute<Access, Rate>): readonly string[];
};

export type DecidedRoute<Access extends string, Rate extends string> = {
  access: Access;
  rate: Rate;
  idempotency: Idempotency;
  method: string;
};

/** The decisions that every route states. */
export type Decisions<Access extends string, Rate extends string, Code extends string = string> = {
  /** Who may call. */
  access: Access;
  /** How often. */
  rate: Rate;
  /** What the audit log says of it, or that it says nothing. */
  audit: RouteAudit | 'none';
  /** Why the work itself can refuse; what its decisions and the edge refuse by is known without it. */
  codes?: readonly Code[];
};

type Options<Schema extends FastifySchema> = Omit<
  RouteShorthandOptions<
    RawServerDefault,
    IncomingMessage,
    ServerResponse,
    RouteGenericInterface,
    ContextConfigDefault,
    Schema,
    TypeBoxTypeProvider,
    FastifyBaseLogger
  >,
  'onRequest' | 'onSend'
>;

type Handler<Schema extends FastifySchema> = RouteHandlerMethod<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  RouteGenericInterface,
  ContextConfigDefault,
  Schema,
  TypeBoxTypeProvider,
  FastifyBaseLogger
>;

type KeyedHandler<Schema extends FastifySchema, Tx> = (
  request: Parameters<Handler<Schema>>[0],
  tx: Tx,
) => Promise<RouteAnswer>;

type KeyedCheck<Schema extends FastifySchema> = (request: Parameters<Handler<Schema>>[0]) => Promise<void>;

export type DeclareRoute<Access extends string, Rate extends string, Tx, Code extends string = string> = {
  <const Schema extends FastifySchema>(
    path: string,
    options: Options<Schema> &
      Decisions<Access, Rate, Code> & { idempotency: 'keyed'; before?: KeyedCheck<Schema> },
    handler: KeyedHandler<Schema, Tx>,
  ): void;
  <const Schema extends FastifySchema>(
    path: string,
    options: Options<Schema> & Decisions<Access, Rate, Code> & { idempotency: Exclude<Idempotency, 'keyed'> },
    handler: Handler<Schema>,
  ): void;
};

/** `app.get` and its like, whose options cannot leave out who may call, how often, what is audited, what a repeat does. */
export type Routes<
  Access extends string,
  Rate extends string,
  Tx = never,
  Code extends string = string,
> = Record<'get' | 'post' | 'put' | 'patch' | 'delete' | 'options', DeclareRoute<Access, Rate, Tx, Code>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route decided; absent on routes that were not declared. */
    declared?: {
      access: string;
      rate: string;
      audit: string | 'none';
      idempotency: Idempotency;
      /** For the reference. */
      codes: readonly string[];
      parameters: readonly string[];
    };
  }
}

export function createRoutes<Access extends string, Rate extends string, Tx = never>(
  app: App,
  rules: RouteRules<Access, Rate, Tx>,
): Routes<Access, Rate, Tx> {
  const declare =
    (method: HTTPMethods) =>
    (
      path: string,
      options: Options<FastifySchema> &
        Decisions<Access, Rate> & { idempotency: Idempotency; before?: KeyedCheck<FastifySchema> },
      handler: (request: never, second: never) => unknown,
    ): void => {
      const { access, rate, audit, idempotency, codes = [], before, ...fastifyOptions } = options;
      const decided = { access, rate, idempotency };
      const described = { ...decided, method: String(method) };
      const gates = [rules.identify(access), rules.rate(rate), rules.permit(access)].filter(
        (gate) => gate !== null,
      );
      const security = rules.security?.(access);
      app.route({
        ...fastifyOptions,
        method,
        url: path,
        schema: {
          ...(security === undefined ? {} : { security }),
          ...(rules.refusesUnreadFields === true && readsNoQuery(options.schema) ? NO_QUERY : {}),
          ...options.schema,
        },
        config: {
          ...options.config,
          declared: {
            ...decided,
            audit: audit === 'none' ? audit : audit.action,
            codes: [...(rules.codes?.(described) ?? []), ...codes],
            parameters: rules.parameters?.(described) ?? [],
          },
        },
        ...(gates.length === 0 ? {} : { onRequest: asHook(gates) }),
        ...(rules.refusesUnreadFields === true && readsNoBody(method, options.schema)
          ? { preHandler: [refuseFields, options.preHandler ?? []].flat() as typeof options.preHandler }
          : {}),
        ...(audit === 'none' ? {} : { onSend: auditHook(audit, rules.audit) }),
        handler: (idempotency === 'keyed'
          ? keyedHandler(rules, handler as unknown as KeyedHandler<FastifySchema, Tx>, before)
          : handler) as Handler<FastifySchema>,
      });
    };
  return {
    get: declare('GET') as DeclareRoute<Access, Rate, Tx>,
    post: declare('POST') as DeclareRoute<Access, Rate, Tx>,
    put: declare('PUT') as DeclareRoute<Access, Rate, Tx>,
    patch: declare('PATCH') as DeclareRoute<Access, Rate, Tx>,
    delete: declare('DELETE') as DeclareRoute<Access, Rate, Tx>,
    options: declare('OPTIONS') as DeclareRoute<Access, Rate, Tx>,
  };
}

function readsNoBody(method: HTTPMethods, schema: FastifySchema | undefined): boolean {
  return method !== 'GET' && schema?.body === undefined && schema?.consumes === undefined;
}

/** What somebody meant to say there is refused by its name: a refund with `?amount=500` would give back all of the payment. */
const NO_QUERY = { querystring: Type.Object({}, { additionalProperties: false }) };

/** An address that strangers were given for bodies of their own form may have a query of theirs. */
function readsNoQuery(schema: FastifySchema | undefined): boolean {
  return schema?.querystring === undefined && schema?.consumes === undefined;
}

function keyedHandler<Tx>(
  rules: Pick<RouteRules<string, string, Tx>, 'once'>,
  handler: KeyedHandler<FastifySchema, Tx>,
  before: KeyedCheck<FastifySchema> | undefined,
): Handler<FastifySchema> {
  return (async (request: FastifyRequest, reply: FastifyReply) =>
    rules.once(request, reply, {
      before: before === undefined ? null : () => before(request as never),
      work: (tx) => handler(request as never, tx),
    })) as Handler<FastifySchema>;
}

/** One hook for all gates. Where none answers with a promise, no turn of the event loop is spent. */
function asHook(gates: readonly Gatekeeper[]) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      for (let i = 0; i < gates.length; i++) {
        const passed = (gates[i] as Gatekeeper)(request, reply);
        if (passed instanceof Promise) {
          passed.then(() => passRest(gates.slice(i + 1), request, reply)).then(() => done(), done);
          return;
        }
      }
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}

async function passRest(
  gates: readonly Gatekeeper[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  for (const gate of gates) await gate(request, reply);
}
