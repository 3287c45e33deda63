// Builds both forms of the package with TypeScript's own emit: ES modules with the command line, and CommonJS.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, 'dist');

// In a new clone only what the services need is there, and TypeScript is not among it.
const installer = join(here, '..', '..', 'tools', 'install.mjs');
if (existsSync(installer)) (await import(pathToFileURL(installer).href)).ensureInstalled();
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');

function compile(project) {
  execFileSync(process.execPath, [tsc, '-p', join(here, project)], { stdio: 'inherit' });
}

/** Declarations keep the `.ts` of the sources' imports; there are only `.d.ts` files beside them. */
function mendDeclarations(folder) {
  for (const entry of readdirSync(folder, { recursive: true })) {
    if (!entry.endsWith('.d.ts')) continue;
    const path = join(folder, entry);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replaceAll(/((?:from|import\() ?'\.[^']*)\.ts'/g, "$1.js'"),
    );
  }
}

rmSync(dist, { recursive: true, force: true });
compile('tsconfig.build.json');
// Without the command line, which is a program and no library: one form of it is enough.
compile('tsconfig.cjs.json');
writeFileSync(join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
for (const form of ['esm', 'cjs']) mendDeclarations(join(dist, form));
chmodSync(join(dist, 'esm', 'cli', 'main.js'), 0o755);
