import type { TSchema } from 'typebox';
import { takesEmptyBody } from '../input/validation.ts';
import { exampleOf } from './examples.ts';
import type { Nouns } from './nouns.ts';
import { edgeCodesOf, headerReference, type Problems } from './problems.ts';
import type { Answer, DocumentSchema, Media, Operation, Parameter, Reference } from './schema.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** Not in the reference. */
    hide?: boolean;
    /** Such as `payments.create`; clients are generated with these names. */
    operationId?: string;
    summary?: string;
    description?: string;
    tags?: readonly string[];
    security?: Record<string, string[]>[];
    /** The media type of a body that is not JSON. */
    consumes?: string;
    /** An answer that no schema writes; its example says what it looks like. */
    produces?: Produces;
    /** What a hook takes from the request before the schemas see it. */
    parameters?: readonly Parameter[];
    /** A body that fits this operation, where several share a schema. */
    bodyExample?: unknown;
  }
}

export interface Produces {
  type: string;
  description: string;
  /** Text, where there is none. */
  schema?: unknown;
  example: unknown;
}

/** A route as it was declared. */
export type DescribedRoute = {
  method: string;
  /** As the router knows it: `/v1/things/:id`. */
  url: string;
  schema: RouteSchema;
  /** Refusals that come of its own decisions and work, beside those of the edge. */
  codes: readonly string[];
  /** Names of shared parameters. */
  parameters: readonly string[];
  isRateLimited: boolean;
  isKeyed: boolean;
};

export type RouteSchema = {
  hide?: boolean;
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: readonly string[];
  security?: Record<string, string[]>[];
  consumes?: string;
  produces?: Produces;
  parameters?: readonly Parameter[];
  bodyExample?: unknown;
  params?: unknown;
  querystring?: unknown;
  headers?: unknown;
  body?: unknown;
  response?: unknown;
};

const JSON_TYPE = 'application/json';

const ANSWERS: Record<string, string> = {
  '200': 'Done.',
  '201': 'Made.',
  '202': 'Accepted; the rest is done afterwards.',
  '204': 'Done; there is no body.',
};

/** `/v1/things/:id` as the document writes it. */
export function pathOf(url: string): string {
  return url.replaceAll(/:([A-Za-z_]\w*)/g, '{$1}');
}

export function describeOperation(
  route: DescribedRoute,
  { nouns, problems }: { nouns: Nouns; problems: Problems },
): Operation {
  const { schema } = route;
  const parameters = [...shared(route), ...parametersOf(route, nouns)];
  const body = bodyOf(route, nouns);
  const refusals = problems.answersFor([
    ...edgeCodesOf({
      method: route.method,
      hasPathParameters: route.url.includes(':'),
      hasQuery: schema.querystring !== undefined || schema.parameters !== undefined,
      hasHeaders: schema.headers !== undefined,
      hasBody: schema.body !== undefined,
    }),
    ...route.codes,
  ]);
  return {
    ...pick(schema, ['operationId', 'summary', 'description', 'tags', 'security']),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { ...answersOf(route, nouns), ...refusals, default: problems.fallback },
  };
}

function pick<Key extends keyof RouteSchema>(
  schema: RouteSchema,
  keys: readonly Key[],
): Pick<RouteSchema, Key> {
  const given = keys.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]);
  return Object.fromEntries(given) as Pick<RouteSchema, Key>;
}

function shared({ parameters }: DescribedRoute): Reference[] {
  return parameters.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function parametersOf({ schema, url }: DescribedRoute, nouns: Nouns): Parameter[] {
  const named = [...pathOf(url).matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const params = schema.params as DocumentSchema | undefined;
  const fromPath = named.map((name) =>
    parameter('path', name, {
      schema: params?.properties?.[name] ?? { type: 'string' },
      nouns,
      isRequired: true,
    }),
  );
  const fromQuery = fieldsOf('query', schema.querystring, nouns);
  const fromHeaders = fieldsOf('header', schema.headers, nouns);
  return [...fromPath, ...fromQuery, ...(schema.parameters ?? []), ...fromHeaders];
}

function fieldsOf(place: 'query' | 'header', schema: unknown, nouns: Nouns): Parameter[] {
  const { properties = {}, required = [] } = (schema ?? {}) as DocumentSchema;
  return Object.entries(properties).map(([name, property]) => {
    const isRequired = required.includes(name) && property.default === undefined;
    return parameter(place, name, { schema: property, nouns, isRequired });
  });
}

function parameter(
  place: Parameter['in'],
  name: string,
  { schema, nouns, isRequired }: { schema: DocumentSchema; nouns: Nouns; isRequired: boolean },
): Parameter {
  const placed = nouns.place(schema, 'request');
  const { description, examples, ...rest } = placed;
  // A word that must be sent and of which there is only one.
  const example = examples?.[0] ?? (isRequired ? rest.enum?.[0] : undefined);
  return {
    name,
    in: place,
    required: isRequired,
    ...(description === undefined ? {} : { description }),
    schema: rest,
    ...(example === undefined ? {} : { example }),
  };
}

function bodyOf({ schema }: DescribedRoute, nouns: Nouns): Operation['requestBody'] {
  const { body, consumes, bodyExample } = schema;
  if (consumes !== undefined)
    return { required: true, content: { [consumes]: { schema: { type: 'string' } } } };
  if (body === undefined) return undefined;
  const media = mediaOf(nouns, nouns.place(body as DocumentSchema, 'request'));
  return {
    required: !takesEmptyBody(body as TSchema),
    content: { [JSON_TYPE]: bodyExample === undefined ? media : { ...media, example: bodyExample } },
  };
}

function mediaOf(nouns: Nouns, schema: DocumentSchema): Media {
  const example = exampleOf(nouns, schema);
  return { schema, ...(example === undefined ? {} : { example }) };
}

function answersOf(route: DescribedRoute, nouns: Nouns): Record<string, Answer> {
  const headers = {
    'X-Request-Id': headerReference('RequestId'),
    ...(route.isRateLimited
      ? { RateLimit: headerReference('RateLimit'), 'RateLimit-Policy': headerReference('RateLimitPolicy') }
      : {}),
    ...(route.isKeyed ? { 'Idempotent-Replayed': headerReference('IdempotentReplayed') } : {}),
  };
  const { produces, response } = route.schema;
  if (produces !== undefined) {
    const { type, description, example } = produces;
    const schema = produces.schema
      ? nouns.place(produces.schema as DocumentSchema, 'answer')
      : { type: 'string' };
    return { '200': { description, headers, content: { [type]: { schema, example } } } };
  }
  return Object.fromEntries(
    Object.entries((response ?? {}) as Record<string, DocumentSchema>).map(([status, schema]) => {
      const description = schema.description ?? ANSWERS[status] ?? 'The answer.';
      if (schema.type === 'null') return [status, { description, headers }];
      const media = mediaOf(nouns, nouns.place(schema, 'answer'));
      return [status, { description, headers, content: { [JSON_TYPE]: media } }];
    }),
  );
}
