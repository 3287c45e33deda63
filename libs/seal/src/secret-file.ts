import { randomBytes } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '@libs/runtime';
import { SealError } from './errors.ts';

const SECRET_FILE_MODE = 0o600;

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function readSecret(path: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path, 'utf8')).trim();
    if (text === '') throw new SealError('bad_secret_file', `the secret file is empty: ${path}`);
    return text;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', SECRET_FILE_MODE);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Reads a secret, made once. The new file gets its final name by `link`, which fails where the name exists: of two
 * processes that start together one wins, both read the winner's secret, and nobody ever sees half a file.
 */
export async function loadOrCreateSecretFile(path: string, make: () => string): Promise<string> {
  const existing = await readSecret(path);
  if (existing !== undefined) return existing;
  const secret = make().trim();
  if (secret === '') throw new SealError('bad_secret_file', 'a generated secret must not be empty');
  await makeFolder(dirname(path));
  const temporaryPath = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  await writeDurably(temporaryPath, secret);
  try {
    await link(temporaryPath, path);
    await syncFolder(dirname(path));
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(temporaryPath);
  }
  const stored = await readSecret(path);
  if (stored === undefined) throw new SealError('bad_secret_file', `the secret file vanished: ${path}`);
  return stored;
}
