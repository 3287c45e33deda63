// Without the settings of its service the command must not say that nothing is sealed with the older keys.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runRotation } from './command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rotation-'));
});
afterAll(() => rm(folder, { recursive: true }));

test.each(['payments', 'toolhub'] as const)(
  '%s: a folder without a database is refused, and none is made there',
  async (service) => {
    const { code, lines } = await runRotation(service, { DATA_DIR: folder });
    expect([code, lines]).toEqual([1, ['']]);
    expect(existsSync(join(folder, 'postgres'))).toBe(false);
  },
);
