import { randomBytes } from 'node:crypto';
import { baseErrors } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-type.ts';
import { type BuiltFile, BuiltFiles, NONCE_PLACEHOLDER } from './built-files.ts';
import { plainPage } from './plain-page.ts';

export type PagesOptions = {
  /** Where the pages are: `/dashboard`. Addresses below it that are no file are the program's own. */
  path: `/${string}`;
  /** Where the program is beside that: its pages, such as `/`, `/tools` and `/tools/:name`. */
  addresses?: readonly `/${string}`[];
  /** What the build left; it may come, or be replaced, while the server runs. */
  folder: string;
  /** Names the pages while they are being built. */
  title: string;
};

const IMMUTABLE = 'public, max-age=31536000, immutable';
const RETRY_SECONDS = 2;

/** Serves a program of pages that was built into a folder. Nothing it loads comes from another address. */
export function registerPages(app: App, options: PagesOptions): void {
  const files = new BuiltFiles(options.folder);
  const config = { catchAll: true };
  const hidden = { schema: { hide: true }, config };
  const page = (_request: FastifyRequest, reply: FastifyReply) => sendPage(reply, files, options.title);
  for (const address of [options.path, ...(options.addresses ?? [])]) app.get(address, hidden, page);
  app.get(`${options.path}/*`, hidden, async (request, reply) => {
    const rest = (request.params as { '*': string })['*'];
    const isAsset = rest.startsWith('assets/');
    const file = await files.find(rest);
    if (file === undefined) {
      if (isAsset) throw baseErrors.not_found();
      return page(request, reply);
    }
    // The names of assets change with what is in them; the few others are asked for each time.
    reply.header('cache-control', isAsset ? IMMUTABLE : 'no-cache');
    return sendFile(request, reply, file);
  });
}

async function sendPage(reply: FastifyReply, files: BuiltFiles, title: string): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString('base64');
  reply.header('content-security-policy', contentSecurityPolicy(nonce)).header('cache-control', 'no-cache');
  reply.type('text/html; charset=utf-8');
  const html = await files.index();
  if (html !== undefined) return reply.send(html.replaceAll(NONCE_PLACEHOLDER, nonce));
  return reply.code(503).header('retry-after', RETRY_SECONDS).send(buildingPage(title, nonce));
}

/**
 * Scripts come from here alone, and never from the page itself. Styles may also be in the page, with the nonce of this very
 * answer: the component library writes its colours into a `<style>` that carries it.
 */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: BuiltFile): FastifyReply {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  reply.header('vary', 'accept-encoding').header('etag', file.etag).type(file.type);
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  for (const encoding of ['br', 'gzip'] as const) {
    const compressed = file[encoding];
    if (compressed === undefined || !takes(accepted, encoding)) continue;
    return reply.header('content-encoding', encoding).send(compressed);
  }
  return reply.send(file.plain);
}

function takes(accepted: string, encoding: string): boolean {
  return accepted
    .split(',')
    .map((part) =>
      part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q=/),
    )
    .some(([name, quality]) => name === encoding && Number(quality ?? 1) > 0);
}

/** Loads itself again until the build is there. */
function buildingPage(title: string, nonce: string): string {
  const head = `<meta http-equiv="refresh" content="${RETRY_SECONDS}">`;
  const main = `<h1>${title} is being built</h1><p role="status">This takes some seconds after an update, and the page comes by itself.
The API answers meanwhile.</p><p>Still here after a minute? <code>npm run dashboards</code> builds it.</p>`;
  return plainPage({ title, head, main }, nonce);
}
