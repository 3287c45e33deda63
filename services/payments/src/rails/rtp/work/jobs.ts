import type { NewJob } from '@libs/jobs';
import { jobNameFor } from '../../../job-lanes.ts';
import type { Mode } from '../../../tenant.ts';
import type { SubmissionKey } from '../submissions/store.ts';

/** The rail's jobs and what is in them. Payloads are small tuples: thousands of them pass every second. */
export const SEND_JOB = 'rtp.send';
export const READ_JOB = 'rtp.read';
export const ASK_JOB = 'rtp.ask';

/** So that one job stays small: reading it is one transaction, which locks all of its payments. */
export const MESSAGES_PER_READ_MAX = 250;

export interface SendPayload {
  mode: Mode;
  messages: [tenantId: string, instructionId: string, clockIsSet: 0 | 1][];
}

export interface ReadPayload {
  mode: Mode;
  messages: string[];
}

export interface AskPayload {
  mode: Mode;
  submissions: [tenantId: string, instructionId: string][];
  /** How far their answers may have come, where a look found that they may be late. */
  wait?: AnswerWait;
}

/** An answer may be in this queue of the line, in a job that was made before then. */
export interface AnswerWait {
  queue: number;
  untilMs: number;
}

export function sendJob(payload: SendPayload): NewJob {
  return { name: jobNameFor(SEND_JOB, payload.mode), payload };
}

/** Reads messages exactly as they were received; see `receivedText` for what is not text. */
export function readJobs(mode: Mode, messages: readonly string[]): NewJob[] {
  const jobs: NewJob[] = [];
  for (let start = 0; start < messages.length; start += MESSAGES_PER_READ_MAX) {
    const payload: ReadPayload = { mode, messages: messages.slice(start, start + MESSAGES_PER_READ_MAX) };
    jobs.push({ name: jobNameFor(READ_JOB, mode), payload });
  }
  return jobs;
}

export function askJob(payload: AskPayload, runAt: Date): NewJob {
  return { name: jobNameFor(ASK_JOB, payload.mode), payload, runAt };
}

export function toPairs(keys: readonly SubmissionKey[]): AskPayload['submissions'] {
  return keys.map(({ tenantId, instructionId }) => [tenantId, instructionId]);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Received bytes as text that the database can hold. Bytes that are no text are carried whole as a data URL, which no
 * reader takes for a message: they end in quarantine as everything does that cannot be read.
 */
export function receivedText(bytes: Buffer): string {
  try {
    const text = decoder.decode(bytes);
    if (!text.includes('\0')) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return `data:application/octet-stream;base64,${bytes.toString('base64')}`;
}
