// The check for dead code (knip, by npm run check and npm test) finds an export and a file that nobody uses.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dead-code-'));
  const src = join(folder, 'services', 'payments', 'src');
  mkdirSync(src, { recursive: true });
  copyFileSync(join(root, 'knip.json'), join(folder, 'knip.json'));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'planted', private: true, type: 'module', workspaces: ['services/*'] }),
  );
  writeFileSync(
    join(folder, 'services', 'payments', 'package.json'),
    JSON.stringify({ name: 'payments', private: true, type: 'module' }),
  );
  writeFileSync(join(src, 'main.ts'), `import { used } from './money.ts';\nused();\n`);
  writeFileSync(join(src, 'money.ts'), 'export function used() {}\nexport function plantedExport() {}\n');
  writeFileSync(join(src, 'planted-file.ts'), 'export const x = 1;\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a planted export and a planted file are named', () => {
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules', 'knip', 'bin', 'knip.js'), '--no-progress', '--no-config-hints'],
    { cwd: folder, encoding: 'utf8' },
  );
  expect(status).toBe(1);
  expect(stdout).toContain('plantedExport');
  expect(stdout).toContain('services/payments/src/planted-file.ts');
  expect(stdout).not.toMatch(/^used\b/m);
});
