import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Queryable } from '@libs/db';
import type { SealedColumn } from '@libs/rotation';
import { createSealer } from '@libs/seal';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** `npm run rotate` for one service, without the look for dependencies. */
export async function runRotation(
  service: 'payments' | 'toolhub',
  env: Record<string, string>,
): Promise<{ code: number; lines: string[] }> {
  const child = spawn(process.execPath, [`services/${service}/src/rotation/main.ts`], {
    cwd: root,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, lines: text.trim().split('\n') };
}

/** Opens every value of these columns with these keys, and gives the number of values of each. */
export async function openEverything(
  db: Queryable,
  columns: readonly SealedColumn[],
  keys: readonly Buffer[],
): Promise<Record<string, number>> {
  const sealer = createSealer({ keys });
  const counts: Record<string, number> = {};
  for (const { table, column, contextOf } of columns) {
    const { rows } = await db.query<Record<string, string | Buffer>>(
      `select * from ${table} where ${column} is not null`,
    );
    for (const row of rows) sealer.open(row[column] as Buffer, contextOf(row));
    counts[table] = rows.length;
  }
  return counts;
}
