import { isServerMissing, type Queryable } from '@libs/db';
import { SealError, type Sealer } from '@libs/seal';
import type { SealedColumn } from './sealed-column.ts';
import { readKeyIdsAtEnds } from './store.ts';

export interface StoredKeysCheck {
  readonly database: Queryable;
  readonly sealer: Pick<Sealer, 'keyIds'>;
  readonly columns: readonly SealedColumn[];
  /** The setting that holds the keys, and the file of the data folder that does where it is not set. */
  readonly keyVariable: string;
  readonly keyFile: string;
  /** The setting by which an operator gives keys up, and the ids in it. */
  readonly lostVariable: string;
  readonly lostKeyIds: readonly string[];
  /** Whether keys that open nothing stop the start, or are only told of. */
  readonly refusesWrongKeys: boolean;
  /** Told when the server of some tenants is away, so that nobody knows which keys are needed. */
  readonly onNotSeen: (error: unknown) => void;
}

/**
 * Refuses a start whose keys open nothing of what is stored, and gives the ids of keys that a part of it still needs. In
 * development that is only told: there every data folder makes a key of its own, and processes that only accept may share a database.
 * Rejected: a value that is sealed at the first start and kept for this: it holds an installation in which nothing is stored
 * to a key that nothing needs, and one that was there before has none.
 */
export async function checkStoredKeys(check: StoredKeysCheck): Promise<readonly string[]> {
  const { sealer, lostKeyIds } = check;
  const stored = await readStoredIds(check);
  if (stored === undefined) return [];
  const missing = [...stored].filter(
    (keyId) => !sealer.keyIds.includes(keyId) && !lostKeyIds.includes(keyId),
  );
  const opensSomething = sealer.keyIds.some((keyId) => stored.has(keyId));
  if (check.refusesWrongKeys && missing.length > 0 && !opensSomething)
    throw new SealError('unknown_key', refusal(check, missing));
  return missing;
}

/** Undefined while the server of some tenants is away: that stops no start, and a key that is missing is found out when it is needed. */
async function readStoredIds({
  database,
  columns,
  onNotSeen,
}: StoredKeysCheck): Promise<Set<string> | undefined> {
  const stored = new Set<string>();
  try {
    for (const column of columns)
      for (const keyId of await readKeyIdsAtEnds(database, column)) stored.add(keyId);
  } catch (error) {
    if (!isServerMissing(database, error)) throw error;
    onNotSeen(error);
    return undefined;
  }
  return stored;
}

function refusal(
  { sealer, keyVariable, keyFile, lostVariable }: StoredKeysCheck,
  missing: readonly string[],
): string {
  return (
    `${keyVariable} opens nothing of what is stored: that is sealed with key ${missing.join(', ')}, and the setting ` +
    `(without it, the file ${keyFile}) has ${sealer.keyIds.join(', ')}. Set the key that this database was used with, or ` +
    `restore the database that belongs to this key. Where it is lost for good, ${lostVariable}=${missing.join(',')} ` +
    'starts without what it sealed.'
  );
}

/** What to tell an operator whose start could not look. */
export function describeUnseenKeys(keyVariable: string): string {
  return (
    `what is stored could not be read, so nobody looked whether ${keyVariable} opens it: ` +
    'start one process again when every server of the database is back'
  );
}

/** What to tell an operator whose keys open only a part. */
export function describeMissingKeys(missing: readonly string[], keyVariable: string): string {
  return (
    `some of what is stored is sealed with key ${missing.join(', ')}, which is not in ${keyVariable}: ` +
    'put it back behind the first one until `npm run rotate` says that it may go'
  );
}
