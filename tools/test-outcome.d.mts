export interface TestsOfFile {
  passed: number;
  failed: string[];
  skipped: string[];
}

/** Arguments of Vitest by which its run is reported into this folder. */
export function reportersInto(folder: string): string[];

/** What was reported there, for a run that ended with this status; null where a signal ended it. */
export function readOutcome(
  status: number | null,
  folder: string,
): { files: Map<string, TestsOfFile>; failedFiles: string[]; broken: boolean };
