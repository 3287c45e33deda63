import { fastifySwagger } from '@fastify/swagger';
import type { ErrorCatalogue } from '@libs/runtime';
import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import type { App } from './app-type.ts';
import { PROBLEM_TYPE } from './problem.ts';
import type { Idempotency } from './routes.ts';

export type OpenApiOptions = {
  title: string;
  description: string;
  securitySchemes?: Record<string, object>;
  /** The scheme that endpoints use unless they say otherwise. */
  security?: Record<string, string[]>[];
  tags?: { name: string; description?: string }[];
};

type DocsOptions = {
  name: string;
  version: string;
  publicUrl: string;
  errors: ErrorCatalogue;
  openapi?: OpenApiOptions;
};

type OpenApiObject = {
  components?: { schemas?: Record<string, unknown>; responses?: Record<string, unknown> };
  paths?: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
};

export async function registerOpenApi(app: App, options: DocsOptions): Promise<void> {
  const { errors } = options;
  const info = options.openapi ?? { title: options.name, description: '' };
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: info.title, description: info.description, version: options.version },
      servers: [{ url: options.publicUrl }],
      ...(info.tags ? { tags: info.tags } : {}),
      ...(info.security ? { security: info.security } : {}),
      components: { securitySchemes: (info.securitySchemes ?? {}) as Record<string, never> },
    },
    transform: ({ schema, url, route }) => ({
      // Routes without a schema reach this, too.
      schema: withIdempotencyKey(
        (schema as FastifySchema | undefined) ?? {},
        route.config?.declared?.idempotency,
      ),
      url,
    }),
    transformObject: (document) => {
      const object = (
        'openapiObject' in document ? document.openapiObject : document.swaggerObject
      ) as OpenApiObject;
      return addProblems(object, errors) as never;
    },
  });
  const hidden = { schema: { hide: true } };
  let document: string | undefined;
  app.get('/openapi.json', hidden, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.header('content-type', 'application/json').send(document);
  });
}

const IDEMPOTENCY_KEY = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: 'A repeat with the same key and body gets the first answer and does nothing.',
    }),
  ),
});

/** Said once here instead of in every route that honours the key. */
function withIdempotencyKey(schema: FastifySchema, idempotency: Idempotency | undefined): FastifySchema {
  if (idempotency !== 'keyed' || schema.headers !== undefined) return schema;
  return { ...schema, headers: IDEMPOTENCY_KEY };
}

/** Every operation can answer with a problem; said once here instead of in every route. */
function addProblems(document: OpenApiObject, errors: ErrorCatalogue): OpenApiObject {
  document.components ??= {};
  document.components.schemas = { ...document.components.schemas, Problem: problemSchema(errors.codes) };
  document.components.responses = {
    ...document.components.responses,
    Problem: {
      description: 'What went wrong, as RFC 9457 problem details.',
      headers: { 'x-request-id': { schema: { type: 'string' } } },
      content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  };
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(path)) {
      if (operation.responses === undefined) continue;
      operation.responses.default ??= { $ref: '#/components/responses/Problem' };
    }
  }
  return document;
}

function problemSchema(codes: readonly string[]): object {
  const text = { type: 'string' };
  return {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri' },
      title: text,
      status: { type: 'integer' },
      detail: text,
      code: { type: 'string', enum: codes },
      request_id: text,
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['code', 'detail'],
          properties: { pointer: text, parameter: text, code: text, detail: text },
        },
      },
    },
  };
}
