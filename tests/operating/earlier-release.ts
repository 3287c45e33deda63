// The code of an earlier commit, ready to run beside today's: its own files, with the packages that are installed here.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 20 });
  return status === 0 ? stdout.trim() : undefined;
}

const MIGRATIONS = {
  payments: [
    'services/payments/migrations',
    'libs/jobs/migrations',
    'libs/webhooks/migrations',
    'libs/login/migrations',
    'libs/http/migrations',
  ],
  toolhub: [
    'services/toolhub/migrations',
    'libs/jobs/migrations',
    'libs/webhooks/migrations',
    'libs/http/migrations',
  ],
} as const;

type Folders = readonly string[];

/**
 * The commit before the newest change of the database of the service, or the one that is asked for. Undefined where the
 * history is not there, as in a shallow clone.
 */
export function earlierCommit(
  service: keyof typeof MIGRATIONS,
  wanted = process.env.UPGRADE_FROM,
): string | undefined {
  const folders: Folders = MIGRATIONS[service];
  if (wanted !== undefined) return git('rev-parse', '--verify', `${wanted}^{commit}`);
  const newest = git('log', '--format=%H', '--diff-filter=A', '--', ...folders)
    ?.split('\n')
    .find((commit) => hasStayed(commit, folders));
  return newest ? git('rev-parse', '--verify', '--quiet', `${newest}^`) : undefined;
}

/** Whether a migration that this commit added is still there: one that was taken back before any release changes nothing. */
function hasStayed(commit: string, folders: Folders): boolean {
  const added = git('show', '--format=', '--name-only', '--diff-filter=A', commit, '--', ...folders);
  return (added ?? '').split('\n').some((file) => file !== '' && existsSync(join(root, file)));
}

export interface EarlierRelease {
  folder: string;
  remove(): Promise<void>;
}

/** A folder with the files of that commit. Packages are linked one by one, because those of the repository are its own. */
export async function checkOut(commit: string): Promise<EarlierRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'earlier-release-'));
  const command = `git archive ${commit} libs services package.json | tar -x -C ${folder}`;
  const { status } = spawnSync('sh', ['-c', command], { cwd: root });
  if (status !== 0) throw new Error(`the files of ${commit} could not be written`);
  await linkPackages(root, folder);
  for (const group of ['libs', 'services'])
    for (const name of await readdir(join(folder, group))) {
      const installed = join(root, group, name, 'node_modules');
      if (existsSync(installed)) await symlink(installed, join(folder, group, name, 'node_modules'));
    }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'node_modules', '@libs'), { recursive: true });
  for (const name of await readdir(join(from, 'node_modules')))
    if (name !== '@libs') await symlink(join(from, 'node_modules', name), join(to, 'node_modules', name));
  for (const name of await readdir(join(to, 'libs')))
    await symlink(join(to, 'libs', name), join(to, 'node_modules', '@libs', name));
}
