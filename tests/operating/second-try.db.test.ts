// A restore that went to the wrong moment, and another one after it from the same base backup.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ArchivedServer, startArchivedServer } from './archived-server.ts';

/** Between a commit and the moment that is restored to, so that no clock tells them for one. */
const APART_MS = 50;
let server: ArchivedServer;

beforeAll(async () => {
  server = await startArchivedServer('services/payments/docs/backups.md');
});
afterAll(() => server.remove());

const note = (database: Database, text: string) => database.query('insert into notes values ($1)', [text]);
const notes = async (database: Database) =>
  (await database.query<{ text: string }>('select text from notes')).rows.map(({ text }) => text);

/** Notes this, and gives a moment at which it is noted and nothing else yet. */
async function momentAfter(text: string): Promise<Date> {
  await note(server.database, text);
  await sleep(APART_MS);
  const moment = new Date();
  await sleep(APART_MS);
  return moment;
}

test('a second try finds the moment that was wanted by its timeline', { timeout: 180_000 }, async () => {
  await server.database.query('create table notes (text text)');
  await server.takeBaseBackup();
  const early = await momentAfter('one');
  const wanted = await momentAfter('two');
  await note(server.database, 'three');
  await server.destroy();

  const wrong = await server.restoreTo(early);
  expect(await notes(wrong.database)).toEqual(['one']);
  // It was promoted, and archives under a timeline of its own, which restores follow unless they are told otherwise.
  await note(wrong.database, 'of the wrong try');
  await server.archiveEverything(wrong.database);

  expect(await notes((await server.restoreTo(wanted, '1')).database)).toEqual(['one', 'two']);
});
