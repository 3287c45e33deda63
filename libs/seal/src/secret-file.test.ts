import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadOrCreateSecretFile } from './secret-file.ts';

describe('loadOrCreateSecretFile', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'seal-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const make = () => randomBytes(32).toString('base64');

  it('makes the secret once, with its folder, readable by the owner alone', async () => {
    const path = join(folder, 'keys', 'encryption-key');
    const first = await loadOrCreateSecretFile(path, make);
    expect(await loadOrCreateSecretFile(path, make)).toBe(first);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('gives all that race the same secret, and leaves one file', async () => {
    const path = join(folder, 'admin-token');
    const secrets = await Promise.all(Array.from({ length: 40 }, () => loadOrCreateSecretFile(path, make)));
    expect(new Set(secrets).size).toBe(1);
    expect(await readdir(folder)).toEqual(['admin-token']);
  });

  it('refuses an empty file instead of running with an empty secret', async () => {
    const path = join(folder, 'empty');
    await writeFile(path, '\n');
    await expect(loadOrCreateSecretFile(path, make)).rejects.toMatchObject({ code: 'bad_secret_file' });
    await expect(loadOrCreateSecretFile(join(folder, 'new'), () => ' ')).rejects.toMatchObject({
      code: 'bad_secret_file',
    });
  });
});
