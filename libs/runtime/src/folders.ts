import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A folder, with those above it. Rejected: `mkdir` with `recursive`, which tries again without end, beyond the reach of any signal,
 * where a folder that is there takes no other one and says ENOENT, as `/proc` does.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (await isFolder(path)) return;
    const parent = dirname(path);
    const lacksParent = (error as NodeJS.ErrnoException).code === 'ENOENT' && parent !== path;
    if (!lacksParent || (await isFolder(parent))) throw error;
    await makeFolder(parent);
    await makeFolder(path);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
