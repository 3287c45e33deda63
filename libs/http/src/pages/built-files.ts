import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** Stands in the built page where each answer puts its own nonce. */
export const NONCE_PLACEHOLDER = '__NONCE__';

export type BuiltFile = {
  type: string;
  etag: string;
  plain: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
};

const INDEX = 'index.html';
const FILES_MAX = 1_000;

const typeByEnding: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/**
 * What a build left in a folder, read at first use and kept: some hundred small files. Only names that the folder lists
 * are served, so no address leads out of it. A new build is seen by the time of its page.
 */
export class BuiltFiles {
  readonly #folder: string;
  #builtAtMs = 0;
  #page: string | undefined;
  #names: ReadonlySet<string> = new Set();
  readonly #read = new Map<string, Promise<BuiltFile>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The page, or nothing while there is no build. */
  async index(): Promise<string | undefined> {
    await this.#refresh();
    return this.#page;
  }

  async find(name: string): Promise<BuiltFile | undefined> {
    await this.#refresh();
    if (!this.#names.has(name)) return undefined;
    let file = this.#read.get(name);
    if (file === undefined) {
      file = this.#load(name);
      this.#read.set(name, file);
      // Gone meanwhile: the next request looks again.
      file.catch(() => this.#read.delete(name));
    }
    return file;
  }

  async #refresh(): Promise<void> {
    const builtAtMs = await stat(join(this.#folder, INDEX)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (builtAtMs === this.#builtAtMs) return;
    this.#read.clear();
    if (builtAtMs === 0) {
      this.#page = undefined;
      this.#names = new Set();
    } else {
      const [page, names] = await Promise.all([
        readFile(join(this.#folder, INDEX), 'utf8'),
        listServed(this.#folder),
      ]);
      this.#page = page;
      this.#names = names;
    }
    this.#builtAtMs = builtAtMs;
  }

  async #load(name: string): Promise<BuiltFile> {
    const path = join(this.#folder, name);
    const optional = (ending: string) => readFile(`${path}${ending}`).catch(() => undefined);
    const [plain, br, gzip] = await Promise.all([readFile(path), optional('.br'), optional('.gz')]);
    const type = typeByEnding[extname(name)] as string;
    return { type, etag: `"${createHash('sha256').update(plain).digest('base64url')}"`, plain, br, gzip };
  }
}

async function listServed(folder: string): Promise<Set<string>> {
  const found = await readdir(folder, { recursive: true });
  const names = found.map((name) => name.replaceAll('\\', '/'));
  return new Set(names.filter((name) => typeByEnding[extname(name)] !== undefined).slice(0, FILES_MAX));
}
