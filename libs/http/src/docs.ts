import { createHash } from 'node:crypto';
import { fastifySwagger } from '@fastify/swagger';
import { type ErrorCatalogue, statusByKind } from '@libs/runtime';
import { type FastifySchema, fastify } from 'fastify';
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
  docsPath: `/${string}`;
  errors: ErrorCatalogue;
  openapi?: OpenApiOptions;
};

type OpenApiObject = {
  components?: { schemas?: Record<string, unknown>; responses?: Record<string, unknown> };
  paths?: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
};

export async function registerDocs(app: App, options: DocsOptions): Promise<void> {
  const { docsPath, errors } = options;
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
  app.get(`${docsPath}/errors`, hidden, async (_request, reply) => {
    const page = errorsPage(info.title, errors);
    return reply.header('content-security-policy', page.csp).type('text/html; charset=utf-8').send(page.html);
  });
  registerReference(app, docsPath, info.title);
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

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.5rem;border-bottom:1px solid #8884}
:target{background:#fd04}code{font:14px ui-monospace,monospace}`;

function errorsPage(title: string, errors: ErrorCatalogue): { html: string; csp: string } {
  const rows = errors.codes.map((code) => {
    const definition = errors.definitions[code];
    if (definition === undefined) return '';
    const text = [definition.title, definition.detail, definition.help].filter((part) => part !== undefined);
    return `<tr id="${code}"><td><code>${code}</code></td><td>${statusByKind[definition.kind]}</td><td>${text.map(escapeHtml).join('<br>')}</td></tr>`;
  });
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}: errors</title><style>${STYLE}</style></head><body><h1>Errors</h1>
<p>Every refusal is <code>${PROBLEM_TYPE}</code> (RFC 9457). Branch on <code>code</code>; the texts may change.</p>
<table><thead><tr><th>code</th><th>status</th><th>meaning</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></body></html>`;
  const hash = createHash('sha256').update(STYLE).digest('base64');
  return {
    html,
    csp: `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'`,
  };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

type Reference = { html: string; script: Buffer; csp: string; scriptTag: string };

/**
 * The reference page, with its script served from here. The package holds megabytes, so it is loaded when somebody
 * first opens the page; a throw-away server renders it, since the package offers nothing but a plugin.
 */
function registerReference(app: App, docsPath: string, title: string): void {
  let loading: Promise<Reference> | undefined;
  const load = (): Promise<Reference> => {
    loading ??= renderReference(title).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const hidden = { schema: { hide: true } };
  app.get(docsPath, hidden, async (_request, reply) => reply.redirect(`${docsPath}/`, 302));
  app.get(`${docsPath}/`, hidden, async (_request, reply) => {
    const reference = await load();
    return reply
      .header('content-security-policy', reference.csp)
      .type('text/html; charset=utf-8')
      .send(reference.html);
  });
  app.get(`${docsPath}/js/scalar.js`, hidden, async (request, reply) => {
    const reference = await load();
    reply.header('etag', reference.scriptTag).header('cache-control', 'public, max-age=3600');
    if (request.headers['if-none-match'] === reference.scriptTag) return reply.code(304).send();
    return reply.type('text/javascript; charset=utf-8').send(reference.script);
  });
}

async function renderReference(title: string): Promise<Reference> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference');
  const renderer = fastify();
  await renderer.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: title,
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  const [page, script] = await Promise.all([
    renderer.inject('/docs/'),
    renderer.inject('/docs/js/scalar.js'),
  ]);
  await renderer.close();
  const inline = [...page.body.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = inline.map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  return {
    html: page.body,
    script: script.rawPayload,
    scriptTag: `"${createHash('sha256').update(script.rawPayload).digest('base64url')}"`,
    // The page styles itself at run time, which needs unsafe-inline; scripts stay pinned by hash and origin.
    csp: [
      "default-src 'none'",
      `script-src 'self' ${hashes.join(' ')}`,
      "style-src 'unsafe-inline'",
      "img-src 'self' data: blob:",
      "font-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}
