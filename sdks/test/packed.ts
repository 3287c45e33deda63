// The packages as users get them: built and packed once for each state of the sources, whichever test asks first.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, '.cache', 'sdks');
const LOCK_TRIES_MAX = 600;
const LOCK_PAUSE_MS = 100;
const NOT_SOURCES = /(^|\/)(dist|test|node_modules|__pycache__|\.mypy_cache|[\w.]+\.egg-info)(\/|$)/;

async function hashOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !NOT_SOURCES.test(path.slice(folder.length)))
    .sort();
  for (const file of files) hash.update(file.slice(folder.length)).update(await readFile(file));
  return hash.digest('hex').slice(0, 24);
}

/** Only one process builds; the others wait for what it makes. */
async function once(made: string, make: (beside: string) => Promise<void>): Promise<void> {
  const lock = `${made}.lock`;
  await mkdir(cache, { recursive: true });
  for (let tries = 0; !existsSync(made); tries += 1) {
    if (tries > LOCK_TRIES_MAX) throw new Error(`${lock} is held by a process that is gone: delete it`);
    const isOurs = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (!isOurs) {
      await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
      continue;
    }
    const beside = `${made}.${process.pid}`;
    try {
      await mkdir(beside, { recursive: true });
      await make(beside);
      await rename(beside, made);
    } finally {
      await rm(beside, { recursive: true, force: true });
      await rm(lock, { recursive: true, force: true });
    }
  }
}

/** The file that `npm pack` makes of sdks/node. */
export async function packedNodeSdk(): Promise<string> {
  const source = join(root, 'sdks', 'node');
  const folder = join(cache, `node-${await hashOf(source)}`);
  await once(folder, async (beside) => {
    await run('npm', ['pack', '--silent', '--pack-destination', beside], { cwd: source });
  });
  return join(folder, (await readdir(folder)).find((name) => name.endsWith('.tgz')) as string);
}

/** The folder with the wheel and the source archive of sdks/python. */
export async function packedPythonSdk(): Promise<{ wheel: string; archive: string }> {
  const source = join(root, 'sdks', 'python');
  const folder = join(cache, `python-${await hashOf(source)}`);
  await once(folder, async (beside) => {
    const build = 'import backend, sys; backend.build_wheel(sys.argv[1]); backend.build_sdist(sys.argv[1])';
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    await run('python3', ['-c', build, beside], { cwd: join(source, 'build_backend'), env });
  });
  const names = await readdir(folder);
  const find = (end: string) => join(folder, names.find((name) => name.endsWith(end)) as string);
  return { wheel: find('.whl'), archive: find('.tar.gz') };
}

/** A Python of its own with nothing but the wheel in it, installed without a network. */
export async function installedPython(): Promise<string> {
  const { wheel } = await packedPythonSdk();
  const folder = `${join(wheel, '..')}-installed`;
  await once(folder, async (beside) => {
    await run('python3', ['-m', 'venv', '--without-pip', beside]);
    const python = join(beside, 'bin', 'python');
    const quiet = ['--no-index', '--no-deps', '--no-compile', '--quiet', '--disable-pip-version-check'];
    await run('python3', ['-m', 'pip', '--python', python, 'install', ...quiet, wheel]);
  });
  return join(folder, 'bin', 'python');
}

/** The Node that this machine has. */
function findNodeOutside(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':').filter((path) => !path.includes('node_modules'));
  return folders.map((path) => join(path, 'node')).find((path) => existsSync(path));
}

/**
 * A Node of another version: the one of this machine, where it is of the same line, which takes no seconds to fetch; else
 * the one in the npm package that carries its binary.
 */
export async function nodeBinary(version: string): Promise<string> {
  const outside = findNodeOutside();
  const line = version.split('.')[0];
  if (outside && (await run(outside, ['--version'])).stdout.startsWith(`v${line}.`)) return outside;
  const folder = join(cache, `node-binary-${version}`);
  await once(folder, async (beside) => {
    const name = `node-${process.platform}-${process.arch}@${version}`;
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', beside, name], {
      cwd: cache,
    });
    const archive = join(beside, basename(stdout.trim()));
    await run('tar', ['-xzf', archive, '-C', beside, 'package/bin/node']);
    await rm(archive);
  });
  return join(folder, 'package', 'bin', 'node');
}

/** A bare folder with packages from the registry, installed once for each list of them. */
export async function installedPackages(dependencies: Record<string, string>): Promise<string> {
  const text = JSON.stringify({ private: true, dependencies });
  const folder = join(cache, `packages-${createHash('sha256').update(text).digest('hex').slice(0, 24)}`);
  await once(folder, async (beside) => {
    await writeFile(join(beside, 'package.json'), text);
    await run('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: beside });
  });
  return folder;
}
