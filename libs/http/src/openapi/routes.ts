import type { ErrorCatalogue } from '@libs/runtime';
import type { App } from '../app-type.ts';
import { collectRoutes, createDocument, type OpenApiOptions } from './document.ts';
import type { OpenApiDocument } from './schema.ts';

type DocsOptions = {
  name: string;
  version: string;
  publicUrl: string;
  /** Where the `type` of a problem leads, up to its code. */
  typeBase: string;
  errors: ErrorCatalogue;
  openapi?: OpenApiOptions;
};

/** The document of all routes that are added from now on. */
export function registerOpenApi(app: App, options: DocsOptions): void {
  const routes = collectRoutes(app);
  let document: OpenApiDocument | undefined;
  let text: string | undefined;
  app.decorate('openapi', () => {
    document ??= createDocument(routes, options);
    return document;
  });
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.openapi());
    return reply.header('content-type', 'application/json').send(text);
  });
}
