import { readFileSync } from 'node:fs';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process by its number and the moment it began, since numbers are used again after a restart. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string | null;
}

export function currentProcess(): ProcessIdentity {
  return { pid: process.pid, startedAt: startOf(process.pid) };
}

export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startedAt === null || startedAt === startOf(pid);
}

/** Linux tells the start in clock ticks since boot; elsewhere the number alone has to do. */
function startOf(pid: number): string | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop() as string;
    return fields.split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

const LOCK_TIMEOUT_MS = 150_000;
const LOCK_POLL_MS = 25;

let locksAsked = 0;

/**
 * One process at a time may start or stop the server of a folder. The lock is a file that is linked into place
 * whole, so that nobody ever reads half an owner; a lock whose owner died is taken away.
 */
export async function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const path = join(folder, 'lock');
  locksAsked += 1;
  const mine = join(folder, `lock.${process.pid}.${locksAsked}`);
  // What a process of the same number left may be linked as the lock: written anew, it would be ours without our knowing.
  await rm(mine, { force: true });
  await writeFile(mine, JSON.stringify(currentProcess()));
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  try {
    while (!(await tryLink(mine, path))) {
      if (Date.now() > deadline) throw new Error(`${path} is held by another process for too long`);
      await removeIfAbandoned(path);
      await sleep(LOCK_POLL_MS);
    }
  } finally {
    await rm(mine, { force: true });
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function removeIfAbandoned(path: string): Promise<void> {
  if (await isAbandoned(path)) await rm(path, { force: true });
}

async function isAbandoned(path: string): Promise<boolean> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    return !isAlive(JSON.parse(text) as ProcessIdentity);
  } catch {
    // It was linked whole: what is missing was lost with the power, and so was its owner.
    return true;
  }
}
