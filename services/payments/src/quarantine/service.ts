import type { Database, Queryable } from '@libs/db';
import { sealedColumn } from '@libs/rotation';
import type { Sealer } from '@libs/seal';
import { errors } from '../errors.ts';
import {
  type ListedQuarantined,
  type QuarantineFilter,
  RESOLVED_KEPT_DAYS,
  type SealedQuarantined,
  type WholeQuarantined,
} from './quarantine.ts';
import { findQuarantined, insertQuarantined, listQuarantined, removeResolved } from './store.ts';

const DAY_MS = 86_400_000;

export interface QuarantineDependencies {
  database: Database;
  sealer: Pick<Sealer, 'seal' | 'openText'>;
  now: () => Date;
}

/** What a person has to look at; the operator alone sees it, because it may be anyone's. */
export interface Quarantine {
  /** Keeps them, in the caller's transaction. What lies there under its id already stays as it is. */
  putAside(tx: Queryable, items: readonly WholeQuarantined[]): Promise<void>;
  list(filter: QuarantineFilter): Promise<ListedQuarantined[]>;
  get(id: string): Promise<ListedQuarantined & { content: string }>;
  /** The text of an item as it lies in the table. */
  open(item: SealedQuarantined): string;
  /** Forgets what was worked off long ago; what is open stays until somebody sees to it. */
  sweep(limit: number): Promise<number>;
}

export function createQuarantine({ database, sealer, now }: QuarantineDependencies): Quarantine {
  const open = ({ id, contentSealed }: SealedQuarantined) => sealer.openText(contentSealed, sealContext(id));

  return {
    async putAside(tx, items) {
      // Sealed, because what a network sends may hold account numbers.
      const sealed = items.map(({ content, ...item }) => ({
        ...item,
        contentSealed: sealer.seal(content, sealContext(item.id)),
      }));
      await insertQuarantined(tx, sealed);
    },

    list: (filter) => listQuarantined(database, filter),

    async get(id) {
      const found = await findQuarantined(database, id);
      if (!found) throw errors.not_found({ detail: 'Nothing was put aside under this id.' });
      const { contentSealed: _, ...item } = found;
      return { ...item, content: open(found) };
    },

    open,

    sweep: (limit) =>
      removeResolved(database, new Date(now().getTime() - RESOLVED_KEPT_DAYS * DAY_MS), limit),
  };
}

/** The envelope opens as this item alone. */
function sealContext(id: string): string {
  return `rail_quarantine ${id}`;
}

export const sealedQuarantine = sealedColumn({
  table: 'rail_quarantine',
  column: 'content_sealed',
  key: { id: 'text' },
  // Whole files may be among them.
  rowsPerPage: 10,
  contextOf: (row) => sealContext(row.id),
});
