import { readFileSync } from 'node:fs';
import { link, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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

const LOCK = 'lock';
const LOCK_TIMEOUT_MS = 150_000;
const LOCK_POLL_MS = 25;

let locksAsked = 0;

/**
 * One process at a time may start or stop the server of a folder. The lock is a file that is linked into place
 * whole, so that nobody ever reads half an owner; a lock whose owner died is taken away.
 */
export async function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const path = join(folder, LOCK);
  locksAsked += 1;
  const { pid, startedAt } = currentProcess();
  const claim = `takeover.${pid}.${startedAt}.${locksAsked}`;
  const mine = join(folder, `lock.${pid}.${locksAsked}`);
  // Each at a pace of its own, so that no two meet at every try.
  const pauseMs = LOCK_POLL_MS + ((pid + locksAsked) % LOCK_POLL_MS);
  // What a process of the same number left may be linked as the lock: written anew, it would be ours without our knowing.
  await rm(mine, { force: true });
  await writeFile(mine, JSON.stringify({ pid, startedAt }));
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  try {
    while (!(await tryLink(mine, path))) {
      if (Date.now() > deadline) throw new Error(`${path} is held by another process for too long`);
      await removeIfAbandoned(folder, claim);
      await sleep(pauseMs);
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

/**
 * Between the look at a lock and its removal another may have removed it and a third one taken it, so one at a time does
 * both: who has laid down a claim and then finds no other. Of two at least one finds the other's, and leaves it for now.
 */
async function removeIfAbandoned(folder: string, claim: string): Promise<void> {
  const path = join(folder, LOCK);
  if (!(await isAbandoned(path)) || (await isClaimed(folder, claim))) return;
  await writeFile(join(folder, claim), '');
  try {
    if (!(await isClaimed(folder, claim)) && (await isAbandoned(path))) await rm(path, { force: true });
  } finally {
    await rm(join(folder, claim), { force: true });
  }
}

/** By anybody else who lives; whose claim it is stands in its name, which is there at once and whole. */
async function isClaimed(folder: string, ownClaim: string): Promise<boolean> {
  for (const name of await readdir(folder)) {
    const [kind, pid, startedAt] = name.split('.');
    if (kind !== 'takeover' || name === ownClaim) continue;
    if (isAlive({ pid: Number(pid), startedAt: startedAt === 'null' ? null : `${startedAt}` })) return true;
    await rm(join(folder, name), { force: true });
  }
  return false;
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
