import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** What a build is made from, as one hash: as long as it stays, the build is current. */
export function hashSources(root: string, folders: readonly string[]): string {
  const hash = createHash('sha256');
  const files = folders.flatMap((folder) =>
    globSync('**/*', { cwd: folder, withFileTypes: true, exclude: ['dist', 'dist.next', 'node_modules'] })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  files.push(join(root, 'package-lock.json'));
  for (const file of files.sort()) {
    hash
      .update(`${relative(root, file).replaceAll(sep, '/')}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}
