import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A folder, with those above it. Rejected: `mkdir` with `recursive`, which tries again without end, beyond the reach of any signal,
 * where a folder that is there takes no other one and says ENOENT, as `/proc` does.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    // Where the parent is there by now, somebody else has made it meanwhile, or it takes no folder: the second try tells.
    if (!(await isFolder(parent))) await makeFolder(parent);
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
