import type { Queryable } from '@libs/db';
import { addDays, type CivilDate, fromNewYork } from '../../clock/new-york.ts';
import { errors } from '../../errors.ts';
import { listFiles } from './outgoing/files-store.ts';
import type { FileStatus, ListedFile } from './outgoing/listed-file.ts';
import { type FileRejection, rejectFile } from './outgoing/rejecting.ts';
import type { AchContext } from './work/context.ts';

export interface FilesQuestion {
  status: FileStatus | null;
  /** Of New York, on which the file left. */
  date: CivilDate | null;
  beforeId: string | null;
  limit: number;
}

/** The files that left, for the operator. */
export interface AchFiles {
  list(question: FilesQuestion): Promise<ListedFile[]>;
  /** The bank takes nothing of a file: its entries leave in the next one, or fail. In the caller's transaction. */
  reject(tx: Queryable, id: string, rejection: FileRejection): Promise<void>;
}

const CONFLICTS = {
  not_sent: 'The file has not left yet.',
  rejected_before: 'The file was rejected before.',
  settled: 'Entries of the file have settled.',
} as const;

export function createAchFiles(context: AchContext): AchFiles {
  return {
    list({ date, ...rest }) {
      const between =
        date === null
          ? null
          : { from: fromNewYork(date, '00:00'), to: fromNewYork(addDays(date, 1), '00:00') };
      return listFiles(context.database, { ...rest, between });
    },

    async reject(tx, id, rejection) {
      const result = await rejectFile(context, tx, id, rejection);
      if (result.ok) return;
      if (result.reason === 'not_found') throw errors.not_found({ detail: 'There is no such file.' });
      throw errors.state_conflict({ detail: CONFLICTS[result.reason] });
    },
  };
}
