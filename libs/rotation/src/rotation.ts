import type { Queryable } from '@libs/db';
import { SealError, type Sealer } from '@libs/seal';
import type { SealedColumn } from './sealed-column.ts';
import { type Resealed, readPage, type SealedValue, writeResealed } from './store.ts';

/** What a pass has seen so far. Plain JSON: it travels in a job. */
export interface RotationTally {
  /** Values by the id of the key that they were under when they were read. */
  readonly underKey: Readonly<Record<string, number>>;
  /** Values that had to be written anew, for their key or their mark. */
  readonly resealed: number;
  /** Values that no configured key opens for their own context. */
  readonly unreadable: number;
}

/** Where a pass goes on: the column by its name, since another version has others, and the last primary key that was read of it. */
export interface RotationPlace {
  /** As `table.column`; null at the first. */
  readonly column: string | null;
  readonly after: readonly (string | { readonly hex: string })[] | null;
}

export interface RotationPass {
  readonly place: RotationPlace;
  readonly tally: RotationTally;
}

export interface RotationDependencies {
  readonly database: Queryable;
  readonly sealer: Pick<Sealer, 'open' | 'seal' | 'keyIds'>;
  readonly columns: readonly SealedColumn[];
  /** Ids of keys that are lost for good: what they sealed is left as it is, and keeps no other key. */
  readonly lostKeyIds: readonly string[];
}

export const NEW_PASS: RotationPass = {
  place: { column: null, after: null },
  tally: { underKey: {}, resealed: 0, unreadable: 0 },
};

/** Passes of one command: the second one is clean unless a process still writes with an older key. */
const PASSES_MAX = 5;

const nameOf = ({ table, column }: SealedColumn) => `${table}.${column}`;

/** One page; undefined when the pass is through. Where the column is not known here, the pass begins anew. */
export async function resealPage(
  dependencies: RotationDependencies,
  { place, tally }: RotationPass,
): Promise<RotationPass | { readonly place: null; readonly tally: RotationTally }> {
  const { database, sealer, columns, lostKeyIds } = dependencies;
  const at = place.column === null ? 0 : columns.findIndex((one) => nameOf(one) === place.column);
  if (at < 0) return resealPage(dependencies, NEW_PASS);
  const column = columns[at];
  if (column === undefined) return { place: null, tally };
  const values = await readPage(database, column, {
    after:
      place.after?.map((part) => (typeof part === 'string' ? part : Buffer.from(part.hex, 'hex'))) ?? null,
    newestKeyId: sealer.keyIds[0],
  });
  const wanted = values.filter(({ keyId }) => keyId === null || !lostKeyIds.includes(keyId));
  const { resealed, unreadable } = resealValues(sealer, column, wanted);
  if (resealed.length > 0) await writeResealed(database, column, resealed);
  const last = values.length < column.rowsPerPage ? undefined : values.at(-1);
  const tallied = {
    underKey: addCounts(tally.underKey, wanted),
    resealed: tally.resealed + resealed.length,
    unreadable: tally.unreadable + unreadable,
  };
  if (last !== undefined) {
    const after = Object.keys(column.key).map((name) => toJson(last.row[name]));
    return { place: { column: nameOf(column), after }, tally: tallied };
  }
  const next = columns[at + 1];
  return { place: next ? { column: nameOf(next), after: null } : null, tally: tallied };
}

function toJson(part: string | Buffer | undefined): string | { hex: string } {
  return Buffer.isBuffer(part) ? { hex: part.toString('hex') } : (part as string);
}

function addCounts(
  counts: RotationTally['underKey'],
  values: readonly SealedValue[],
): Record<string, number> {
  const sums = { ...counts };
  for (const { keyId } of values) if (keyId !== null) sums[keyId] = (sums[keyId] ?? 0) + 1;
  return sums;
}

function resealValues(
  sealer: RotationDependencies['sealer'],
  column: SealedColumn,
  values: readonly SealedValue[],
): { resealed: Resealed[]; unreadable: number } {
  const resealed: Resealed[] = [];
  let unreadable = 0;
  for (const value of values) {
    if (value.sealed === null) continue;
    try {
      const changed = resealValue(sealer, column, { ...value, sealed: value.sealed });
      if (changed) resealed.push(changed);
    } catch (error) {
      // One value that was damaged must not keep the others under an old key.
      if (!(error instanceof SealError)) throw error;
      unreadable += 1;
    }
  }
  return { resealed, unreadable };
}

function resealValue(
  sealer: RotationDependencies['sealer'],
  { contextOf, mark }: SealedColumn,
  value: SealedValue & { sealed: Buffer },
): Resealed | undefined {
  const context = contextOf(value.row);
  const plain = sealer.open(value.sealed, context);
  const newMark = mark === undefined ? null : mark.of(plain.toString('utf8'), value.row);
  if (value.keyId === sealer.keyIds[0] && newMark === value.mark) return undefined;
  return { row: value.row, was: value.sealed, sealed: sealer.seal(plain, context), mark: newMark };
}

/** Every value is under the newest key, and was when it was read. */
function isClean(sealer: Pick<Sealer, 'keyIds'>, tally: RotationTally): boolean {
  const older = Object.keys(tally.underKey).filter((keyId) => keyId !== sealer.keyIds[0]);
  return tally.resealed === 0 && tally.unreadable === 0 && older.length === 0;
}

/** Passes until one is clean. The tally is that of the last. */
export async function resealEverything(
  dependencies: RotationDependencies,
  onPass: (tally: RotationTally) => void = () => undefined,
): Promise<{ clean: boolean; tally: RotationTally }> {
  for (let number = 1; ; number += 1) {
    let pass: Awaited<ReturnType<typeof resealPage>> = NEW_PASS;
    while (pass.place !== null) pass = await resealPage(dependencies, pass);
    onPass(pass.tally);
    const clean = isClean(dependencies.sealer, pass.tally);
    if (clean || number === PASSES_MAX) return { clean, tally: pass.tally };
  }
}

/** What an operator wants to know, in one line. */
export function describeTally(sealer: Pick<Sealer, 'keyIds'>, tally: RotationTally, setting: string): string {
  const counts = Object.entries(tally.underKey).map(([keyId, count]) => {
    const place = sealer.keyIds.indexOf(keyId);
    const name = place < 0 ? 'unknown' : place === 0 ? 'newest' : `number ${place + 1}`;
    return `${count} under key ${keyId} (${name})`;
  });
  const found = `${counts.join(', ') || 'nothing is sealed'}${tally.unreadable > 0 ? `, ${tally.unreadable} of them cannot be opened` : ''}`;
  if (isClean(sealer, tally)) {
    return sealer.keyIds.length === 1
      ? `${found}: one key, nothing to do`
      : `${found}: the keys behind the first may be removed from ${setting}`;
  }
  return tally.unreadable > 0
    ? `${found}: keep every key in ${setting}`
    : `${found}, ${tally.resealed} sealed anew: keep every key in ${setting} until a pass finds nothing to do`;
}
