import type { AchScope } from '../entries/scope.ts';

export const FILE_STATUSES = ['waiting', 'sent', 'rejected'] as const;
export type FileStatus = (typeof FILE_STATUSES)[number];

/** A file as the operator sees it, without its content. */
export interface ListedFile {
  id: string;
  scope: AchScope;
  name: string;
  status: FileStatus;
  entries: number;
  debitTotal: number;
  creditTotal: number;
  asOf: Date;
  sentAt: Date | null;
  rejection: string | null;
}

export interface FileFilter {
  status: FileStatus | null;
  /** The instants between which it left. */
  between: { from: Date; to: Date } | null;
  beforeId: string | null;
  limit: number;
}
