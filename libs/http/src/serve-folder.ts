import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { baseErrors } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from './app-type.ts';

const FILES_MAX = 2_000;
const FOLDER_BYTES_MAX = 64 * 1024 * 1024;
const COMPRESS_BYTES_MIN = 1_024;
const BROTLI_QUALITY = 6;

/** For pages made by a bundler: everything from here, styles may be inline, nothing may frame it. */
export const DASHBOARD_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export type ServeFolderOptions = {
  /** Where the folder begins: `/dashboard` or `/`. */
  prefix: string;
  folder: string;
  /** The page for addresses that only the browser's router knows; browsers alone get it. */
  spaFallback?: string;
  /** Beginnings of paths that never fall back to the page: the API beside it. */
  except?: readonly string[];
  csp?: string;
};

const typeByExtension: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};

type StoredFile = {
  type: string;
  tag: string;
  immutable: boolean;
  identity: Buffer;
  encoded: Map<'br' | 'gzip', Promise<Buffer>>;
};

/**
 * Serves a built dashboard from memory. The folder is listed once, and a request is looked up in that list: no path
 * of a request ever reaches the file system, so there is nothing to traverse.
 */
export async function serveFolder(app: App, options: ServeFolderOptions): Promise<void> {
  const prefix = options.prefix.replace(/\/+$/, '');
  let loading: Promise<ReadonlyMap<string, StoredFile>> | undefined;
  const load = (): Promise<ReadonlyMap<string, StoredFile>> => {
    // A folder that is not built yet is looked for again at the next request.
    loading ??= readFolder(options.folder).catch((error: unknown) => {
      loading = undefined;
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return new Map();
    });
    return loading;
  };
  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const files = await load();
    const path = (request.params as { '*'?: string })['*'] ?? '';
    const file = files.get(path === '' ? 'index.html' : path) ?? fallback(request, files, options);
    if (file === undefined) throw baseErrors.not_found();
    return sendFile(request, reply, file, options.csp ?? DASHBOARD_CSP);
  };
  const route = { schema: { hide: true }, config: { catchAll: true } };
  if (prefix !== '') app.get(prefix, route, handle);
  app.get(`${prefix}/*`, route, handle);
}

function fallback(
  request: FastifyRequest,
  files: ReadonlyMap<string, StoredFile>,
  options: ServeFolderOptions,
): StoredFile | undefined {
  if (options.spaFallback === undefined) return undefined;
  const [path = ''] = request.url.split('?', 1);
  if (
    (options.except ?? []).some((start) => path === start || path.startsWith(`${start.replace(/\/+$/, '')}/`))
  ) {
    return undefined;
  }
  // A missing script must be a 404, not a page that the browser then fails to run.
  if (extname(path) !== '' || !(request.headers.accept ?? '').includes('text/html')) return undefined;
  return files.get(options.spaFallback);
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StoredFile,
  csp: string,
): Promise<FastifyReply> {
  reply.header('etag', file.tag).header('vary', 'accept-encoding');
  reply.header('cache-control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  reply.header('content-security-policy', csp);
  if (matchesTag(request.headers['if-none-match'], file.tag)) return reply.code(304).send();
  reply.type(file.type);
  const encoding = chooseEncoding(request.headers['accept-encoding'], file);
  if (encoding === undefined) return reply.send(file.identity);
  return reply.header('content-encoding', encoding).send(await encode(file, encoding));
}

function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header
    .split(',')
    .some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));
}

function chooseEncoding(header: string | string[] | undefined, file: StoredFile): 'br' | 'gzip' | undefined {
  if (typeof header !== 'string' || file.identity.length < COMPRESS_BYTES_MIN) return undefined;
  if (!/^(?:text\/|application\/|image\/svg)/.test(file.type)) return undefined;
  if (/\bbr\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(header)) return 'br';
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(header) ? 'gzip' : undefined;
}

/** Each file is compressed once, when it is first asked for. */
function encode(file: StoredFile, encoding: 'br' | 'gzip'): Promise<Buffer> {
  let encoded = file.encoded.get(encoding);
  if (encoded === undefined) {
    encoded =
      encoding === 'gzip'
        ? promisify(gzip)(file.identity)
        : promisify(brotliCompress)(file.identity, {
            params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
          });
    file.encoded.set(encoding, encoded);
  }
  return encoded;
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, StoredFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, StoredFile>();
  let bytes = 0;
  for (const entry of entries) {
    // Links are left out: they could lead out of the folder.
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const identity = await readFile(path);
    bytes += identity.length;
    if (files.size >= FILES_MAX || bytes > FOLDER_BYTES_MAX)
      throw new Error(`${folder} is too large to be served`);
    const name = relative(folder, path).split(sep).join('/');
    files.set(name, {
      type: typeByExtension[extname(name).toLowerCase()] ?? 'application/octet-stream',
      tag: `W/"${createHash('sha256').update(identity).digest('base64url').slice(0, 27)}"`,
      immutable: isHashed(name),
      identity,
      encoded: new Map(),
    });
  }
  return files;
}

/** Bundlers put a hash of the content into the name: `assets/index-BcD3f_9x.js`. */
function isHashed(name: string): boolean {
  return /[-.](?=[A-Za-z_-]*\d|[A-Za-z0-9-]*_|[a-z0-9_-]*[A-Z])[A-Za-z0-9_-]{8,}\.[a-z0-9]+(?:\.map)?$/.test(
    name,
  );
}
