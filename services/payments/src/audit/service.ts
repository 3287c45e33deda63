import type { Database } from '@libs/db';
import type { NewId } from '@libs/seal';
import type { AuditEntry } from './entry.ts';
import { deleteAuditEntriesBefore, insertAuditEntry, listAuditEntries } from './store.ts';

const KEPT_MS = 365 * 24 * 60 * 60_000;

export interface AuditService {
  /** Never rejects: what was done is done. */
  record(entry: Omit<AuditEntry, 'id' | 'at'>): Promise<void>;
  list(query: { organisationId: string; before: string | null; limit: number }): Promise<AuditEntry[]>;
  /** Forgets what is past its time. */
  sweep(limit: number): Promise<number>;
}

export interface AuditDependencies {
  database: Database;
  newId: NewId;
  now: () => Date;
  onError: (error: unknown) => void;
}

export function createAuditService({ database, newId, now, onError }: AuditDependencies): AuditService {
  return {
    async record(entry) {
      try {
        await insertAuditEntry(database, { ...entry, id: newId('aud'), at: now() });
      } catch (error) {
        onError(error);
      }
    },
    list: (query) => listAuditEntries(database, query),
    sweep: (limit) => deleteAuditEntriesBefore(database, new Date(now().getTime() - KEPT_MS), limit),
  };
}
