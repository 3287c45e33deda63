import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { App } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IndexedSection } from '../assets/search.js';
import { readGuides } from './guide.ts';
import { type Frame, guidePage, missingPage, referenceBar, searchPage } from './layout.ts';
import { type Reference, renderReference } from './reference.ts';
import { type RenderedGuide, renderGuide } from './render.ts';
import { withSamples } from './samples.ts';
import type { DocsSite } from './site.ts';

const DOCS_PATH = '/docs';
const QUESTION_LENGTH_MAX = 200;
const PAGE_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const ASSET_TYPES = {
  'header.css': 'text/css; charset=utf-8',
  'docs.css': 'text/css; charset=utf-8',
  'docs.js': 'text/javascript; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'search.js': 'text/javascript; charset=utf-8',
} as const;

interface Rendered {
  pages: ReadonlyMap<string, string>;
  frame: Frame;
  sections: readonly IndexedSection[];
  searchIndex: string;
}

interface Assets {
  files: ReadonlyMap<string, { type: string; bytes: Buffer }>;
  tag: string;
}

function readAssets(): Assets {
  const hash = createHash('sha256');
  const files = new Map(
    Object.entries(ASSET_TYPES).map(([name, type]) => {
      const bytes = readFileSync(new URL(`../assets/${name}`, import.meta.url));
      hash.update(bytes);
      return [name, { type, bytes }];
    }),
  );
  return { files, tag: hash.digest('base64url').slice(0, 12) };
}

function sectionsOf(guides: readonly RenderedGuide[]): IndexedSection[] {
  return guides.flatMap(({ guide, sections }) =>
    sections.map(({ heading, anchor, text }) => ({
      title: guide.title,
      heading,
      url: `${guide.name === 'index' ? DOCS_PATH : `${DOCS_PATH}/${guide.name}`}${anchor === '' ? '' : `#${anchor}`}`,
      text,
    })),
  );
}

/** Everything that the guides are, made at the first request: most processes never show a page. */
function renderSite(site: DocsSite, assetsTag: string): Rendered {
  const guides = readGuides(site).map((guide) => renderGuide(guide, DOCS_PATH));
  const frame: Frame = { site, docsPath: DOCS_PATH, guides, assetsTag };
  const sections = sectionsOf(guides);
  return {
    pages: new Map(guides.map((one) => [one.guide.name, guidePage(frame, one)])),
    ...{ frame, sections },
    searchIndex: JSON.stringify(sections),
  };
}

function sendPage(reply: FastifyReply, html: string, status = 200): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', PAGE_CSP)
    .type('text/html; charset=utf-8')
    .send(html);
}

/** The guides, their search, and the reference beside them, under `/docs`. */
export function registerGuides(app: App, site: DocsSite): void {
  const hidden = { schema: { hide: true } };
  let assets: Assets | undefined;
  let rendered: Rendered | undefined;
  const theAssets = () => {
    assets ??= readAssets();
    return assets;
  };
  const theSite = () => {
    rendered ??= renderSite(site, theAssets().tag);
    return rendered;
  };

  app.get(DOCS_PATH, hidden, (_request, reply) => sendPage(reply, theSite().pages.get('index') as string));
  app.get(`${DOCS_PATH}/`, hidden, (_request, reply) => reply.redirect(DOCS_PATH, 302));
  app.get(`${DOCS_PATH}/search`, hidden, (request, reply) => {
    const { q } = request.query as { q?: unknown };
    const question = typeof q === 'string' ? q.slice(0, QUESTION_LENGTH_MAX).trim() : '';
    const { frame, sections } = theSite();
    return sendPage(reply, searchPage(frame, sections, question));
  });
  app.get(`${DOCS_PATH}/search.json`, hidden, (_request, reply) =>
    reply.type('application/json').send(theSite().searchIndex),
  );
  app.get(`${DOCS_PATH}/assets/:name`, hidden, (request, reply) => {
    const { files, tag } = theAssets();
    const file = files.get((request.params as { name: string }).name);
    if (file === undefined) return sendPage(reply, missingPage(theSite().frame), 404);
    return sendCached(request, reply, { ...file, tag: `"${tag}"` });
  });
  registerReference(app, site, () => theAssets().tag);
  app.get(`${DOCS_PATH}/*`, hidden, (request, reply) => {
    const { pages, frame } = theSite();
    const name = (request.params as { '*': string })['*'].replace(/\/$/, '');
    const page = name === 'index' ? undefined : pages.get(name);
    return page === undefined ? sendPage(reply, missingPage(frame), 404) : sendPage(reply, page);
  });
}

function sendCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, bytes, tag }: { type: string; bytes: Buffer; tag: string },
): FastifyReply {
  reply.header('etag', tag).header('cache-control', 'public, max-age=3600');
  if (request.headers['if-none-match'] === tag) return reply.code(304).send();
  return reply.type(type).send(bytes);
}

function registerReference(app: App, site: DocsSite, assetsTag: () => string): void {
  const hidden = { schema: { hide: true } };
  let loading: Promise<Reference> | undefined;
  const load = (): Promise<Reference> => {
    loading ??= renderReference({
      title: `${site.product} API reference`,
      documentUrl: `${DOCS_PATH}/reference.json`,
      header: referenceBar({ site, docsPath: DOCS_PATH }),
      styleUrl: `${DOCS_PATH}/assets/header.css?${assetsTag()}`,
      scriptUrl: `${DOCS_PATH}/assets/reference.js?${assetsTag()}`,
      ...(site.tryOut === undefined ? {} : { tryOut: site.tryOut }),
    }).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  let document: string | undefined;
  app.get(`${DOCS_PATH}/reference.json`, hidden, (_request, reply) => {
    document ??= JSON.stringify(withSamples(app.openapi(), site));
    return reply.type('application/json').send(document);
  });
  app.get(`${DOCS_PATH}/reference`, hidden, async (_request, reply) => {
    const reference = await load();
    return reply
      .header('content-security-policy', reference.csp)
      .type('text/html; charset=utf-8')
      .send(reference.html);
  });
  app.get(`${DOCS_PATH}/js/scalar.js`, hidden, async (request, reply) => {
    const { script, scriptTag } = await load();
    return sendCached(request, reply, {
      type: 'text/javascript; charset=utf-8',
      bytes: script,
      tag: scriptTag,
    });
  });
}
