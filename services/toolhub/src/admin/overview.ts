export interface AdminCustomer {
  id: string;
  email: string;
  name: string;
  plan: string;
  createdAt: Date;
  suspendedAt: Date | null;
  suspensionReason: string | null;
}

export interface JobSummary {
  name: string;
  /** Due, or on lease in a process. */
  due: number;
  /** For a later time. */
  scheduled: number;
  failed: number;
  /** Tries of those that are not done yet. */
  attemptsMax: number;
  nextRunAt: Date | null;
  lastError: string | null;
}

export interface FailedJob {
  id: number;
  name: string;
  attempts: number;
  failedAt: Date;
  lastError: string | null;
}
