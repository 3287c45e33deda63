import type { ErrorCatalogue } from '@libs/runtime';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { exampleOf } from './examples.ts';
import { Nouns } from './nouns.ts';
import { type DescribedRoute, describeOperation, pathOf, type RouteSchema } from './operation.ts';
import { headerComponents, Problems } from './problems.ts';
import type { DocumentSchema, OpenApiDocument, Operation, Parameter } from './schema.ts';

export type OpenApiOptions = {
  title: string;
  description: string;
  securitySchemes?: Record<string, object>;
  /** The scheme that endpoints use unless they say otherwise. */
  security?: Record<string, string[]>[];
  tags?: { name: string; description?: string }[];
  /** Parameters that routes share, by the names that the rules of routes give. */
  parameters?: Record<string, Parameter>;
  /** Codes that every route can answer with, beside those of the edge. */
  codes?: readonly string[];
  /** What problems of some codes tell beside the standard members. */
  problemMembers?: Record<string, DocumentSchema>;
  /** What is sent to the addresses of customers, by the type of event. */
  webhooks?: Record<string, WebhookDescription>;
};

export type WebhookDescription = {
  summary: string;
  description: string;
  tags: readonly string[];
  /** The body; a TypeBox schema. */
  schema: object;
};

type DocumentOptions = {
  name: string;
  version: string;
  publicUrl: string;
  /** Where the `type` of a problem leads, up to its code. */
  typeBase: string;
  errors: ErrorCatalogue;
  openapi?: OpenApiOptions;
};

/** Remembers the routes that are added from now on; the document is made of them when somebody asks for it. */
export function collectRoutes(app: Pick<FastifyInstance, 'addHook'>): DescribedRoute[] {
  const routes: DescribedRoute[] = [];
  app.addHook('onRoute', (route) => {
    const schema = (route.schema ?? {}) as RouteSchema;
    if (schema.hide === true || route.config?.catchAll === true) return;
    for (const method of [route.method].flat()) {
      if (method !== 'HEAD' && method !== 'OPTIONS') routes.push(describeRoute(route, method, schema));
    }
  });
  return routes;
}

function describeRoute(route: RouteOptions, method: string, schema: RouteSchema): DescribedRoute {
  const declared = route.config?.declared;
  const isKeyed = declared?.idempotency === 'keyed' || declared?.idempotency === 'keyed_by_handler';
  return {
    ...{ method, schema, isKeyed, url: route.url },
    codes: declared?.codes ?? [],
    parameters: declared?.parameters ?? [],
    isRateLimited: declared !== undefined && declared.rate !== 'none',
  };
}

export function createDocument(routes: readonly DescribedRoute[], options: DocumentOptions): OpenApiDocument {
  const info = options.openapi ?? { title: options.name, description: '' };
  const nouns = new Nouns();
  const problems = new Problems(options);
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    const path = pathOf(route.url);
    const codes = [...(info.codes ?? []), ...route.codes];
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describeOperation({ ...route, codes }, { nouns, problems });
  }
  const webhooks = describeWebhooks(info.webhooks ?? {}, nouns);
  const used = JSON.stringify([paths, problems.components]);
  const headers = Object.entries(headerComponents).filter(([name]) => used.includes(`/headers/${name}"`));
  return {
    openapi: '3.1.0',
    info: {
      title: info.title,
      description: info.description,
      version: options.version,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.publicUrl }],
    ...(info.tags ? { tags: info.tags } : {}),
    ...(info.security ? { security: info.security } : {}),
    paths,
    ...(Object.keys(webhooks).length === 0 ? {} : { webhooks }),
    components: {
      schemas: sorted({ ...nouns.components, Problem: problems.schema(info.problemMembers ?? {}) }),
      responses: sorted(problems.components),
      parameters: info.parameters ?? {},
      headers: Object.fromEntries(headers),
      securitySchemes: info.securitySchemes ?? {},
    },
  };
}

function sorted<Value>(named: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const SIGNATURE_HEADERS: Parameter[] = [
  {
    ...{ name: 'webhook-id', in: 'header', required: true, schema: { type: 'string' } },
    description: 'The id of the event, the same at every try: what you have seen before can be left out.',
  },
  {
    ...{ name: 'webhook-timestamp', in: 'header', required: true, schema: { type: 'string' } },
    description: 'When it was sent, in seconds since 1970; refuse what is more than five minutes off.',
  },
  {
    ...{ name: 'webhook-signature', in: 'header', required: true, schema: { type: 'string' } },
    description:
      '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; several, parted by spaces, while a secret is rotated.',
  },
];

/** Signed as Standard Webhooks says. */
function describeWebhooks(
  webhooks: Record<string, WebhookDescription>,
  nouns: Nouns,
): Record<string, { post: Operation }> {
  return Object.fromEntries(
    Object.entries(webhooks).map(([type, { schema, ...about }]) => {
      const placed = nouns.place(schema as DocumentSchema, 'answer');
      const example = exampleOf(nouns, placed);
      const media = { schema: placed, ...(example === undefined ? {} : { example }) };
      return [
        type,
        {
          post: {
            operationId: `webhooks.${type}`,
            ...about,
            security: [],
            parameters: SIGNATURE_HEADERS,
            requestBody: { required: true, content: { 'application/json': media } },
            responses: {
              '2XX': { description: 'Received. Anything else, and no answer in time, is tried again.' },
              '4XX': { description: 'Not taken; it is tried again.' },
            },
          },
        },
      ];
    }),
  );
}
