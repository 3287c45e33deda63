// Clients made by openapi-typescript, used through openapi-fetch: type-checked, then run against the real services.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { OpenApiDocument } from '@libs/http';
import { installedPackages, root } from '../../sdks/test/packed.ts';

const run = promisify(execFile);
/** The generator needs a TypeScript of its own. */
const PACKAGES = { 'openapi-fetch': '0.17.0', 'openapi-typescript': '7.13.0', typescript: '5.9.3' };
const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  noUncheckedIndexedAccess: true,
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
  skipLibCheck: false,
  allowImportingTsExtensions: true,
};
/** All of them by one process: most of its time goes into its start. */
const GENERATE = `import { writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
for (const name of process.argv.slice(2))
  writeFileSync(name + '.d.ts', astToString(await openapiTS(new URL(name + '.json', import.meta.url))));
`;
/** The repository's own, which is several times as fast as the one that the generator needs. */
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const usage = fileURLToPath(new URL('./usage', import.meta.url));

export async function useGeneratedClients(options: {
  documents: Record<string, OpenApiDocument>;
  urls: { payments: string; toolhub: string };
  toolhubToken: string;
}): Promise<void> {
  const packages = await installedPackages(PACKAGES);
  // Inside, so that the packages are found.
  const folder = await mkdtemp(join(packages, 'used-'));
  try {
    await cp(usage, folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }),
    );
    for (const [name, document] of Object.entries(options.documents)) {
      await writeFile(join(folder, `${name}.json`), JSON.stringify(document));
    }
    await writeFile(join(folder, 'generate.mjs'), GENERATE);
    await loudly(run(process.execPath, ['generate.mjs', ...Object.keys(options.documents)], { cwd: folder }));
    await loudly(run(process.execPath, [compiler, '-p', '.'], { cwd: folder }));
    const env = {
      PATH: process.env.PATH,
      PAYMENTS_URL: options.urls.payments,
      TOOLHUB_URL: options.urls.toolhub,
      TOOLHUB_TOKEN: options.toolhubToken,
    };
    const strip = ['--disable-warning=ExperimentalWarning'];
    await loudly(run(process.execPath, [...strip, 'payments-usage.ts'], { cwd: folder, env }));
    await loudly(run(process.execPath, [...strip, 'toolhub-usage.ts'], { cwd: folder, env }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a program printed belongs to its failure. */
async function loudly(running: Promise<unknown>): Promise<void> {
  await running.catch((error: { stdout?: string; stderr?: string; message: string }) => {
    throw new Error([error.message, error.stdout, error.stderr].join('\n'));
  });
}
