// The limit of failed logins, where the check of a password itself fails.
import { randomBytes } from 'node:crypto';
import { createTestDatabase } from '@libs/db/testing';
import { createIdFactory } from '@libs/seal';
import { expect, test } from 'vitest';
import { createLoginLimit } from './limit.ts';
import { loginMigrations } from './migrations.ts';

test('a check that fails by itself counts as no try, and leaves its place at once', async () => {
  const db = await createTestDatabase({ schema: 'public', series: [loginMigrations] });
  const now = () => new Date();
  const limit = createLoginLimit({
    database: db.database,
    newId: createIdFactory({ now, randomBytes }),
    now,
  });
  const failing = () => Promise.reject(new Error('the hashes are away'));
  for (let count = 0; count < 12; count += 1)
    await expect(limit.attempt('ada@example.com', failing)).rejects.toThrow('away');
  expect((await db.database.query('select 1 from login_attempts')).rows).toEqual([]);
  expect(await limit.attempt('ada@example.com', async () => ({ ok: true }))).toEqual({ ok: true });
  await db.drop();
});
