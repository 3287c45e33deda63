import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { inProduction } from './config.ts';
import { hashSources } from './sources.ts';

export interface DashboardBuild {
  /** The repository, whose lock file belongs to what a build is made from. */
  root: string;
  /** Holds `index.html` and the sources; gets `dist/`. */
  folder: string;
  /** Shared sources that the pages are made from, too. */
  libraries: readonly string[];
  /** Where the pages are served: `/dashboard/`. */
  base: string;
}

/** The service may run as another user than the build. */
const READABLE = 0o755;
const COMPRESSED = /\.(js|css|svg|json)$/;
/** Below this a compressed answer is not smaller by a packet. */
const COMPRESSED_BYTES_MIN = 1_024;

/**
 * Builds the pages of a dashboard unless the last build was made from the same sources. The new build takes the place of the
 * old one in one step, when it is whole; pages that are open then load themselves anew when they miss a part.
 *
 * @returns whether something was built
 */
export async function buildDashboard(options: DashboardBuild): Promise<boolean> {
  const { folder } = options;
  const dist = join(folder, 'dist');
  const stamp = join(dist, '.sources');
  const wanted = hashSources(options.root, [folder, ...options.libraries]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return false;
  // Two may build at once: each has a place of its own until its build is whole.
  const next = mkdtempSync(join(options.root, 'node_modules', '.dashboard-'));
  await inProduction(() =>
    build({
      root: folder,
      base: options.base,
      configFile: false,
      logLevel: 'warn',
      mode: 'production',
      plugins: [react()],
      // The server puts another one into each answer (libs/http/src/pages/built-files.ts).
      html: { cspNonce: '__NONCE__' },
      build: {
        outDir: next,
        emptyOutDir: true,
        target: 'es2023',
        // Browsers that know light-dark() by themselves: what stands in for it needs a rule that the components' styles lack.
        cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
        modulePreload: { polyfill: false },
        // Everything that is loaded has an address of its own: the policy of the pages lets nothing inline through.
        assetsInlineLimit: 0,
        reportCompressedSize: false,
        chunkSizeWarningLimit: 1_000,
      },
    }),
  );
  await compressAll(next);
  writeFileSync(join(next, '.sources'), wanted);
  chmodSync(next, READABLE);
  replace(dist, next);
  return true;
}

function replace(dist: string, next: string): void {
  const old = `${next}.old`;
  mkdirSync(dist, { recursive: true });
  renameSync(dist, old);
  renameSync(next, dist);
  rmSync(old, { recursive: true, force: true });
}

async function compressAll(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  await Promise.all(
    names.filter((name) => COMPRESSED.test(name)).map((name) => compressFile(join(folder, name))),
  );
}

async function compressFile(path: string): Promise<void> {
  const plain = await readFile(path);
  if (plain.length < COMPRESSED_BYTES_MIN) return;
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 10 };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params: quality }),
    promisify(gzip)(plain, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}
