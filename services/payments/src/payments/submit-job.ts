import { jobNameFor } from '../job-lanes.ts';

/** Hands payments that were accepted together to their rails. */
export const SUBMIT_JOB = 'payments.submit';
export const LIVE_SUBMIT_JOB = jobNameFor(SUBMIT_JOB, 'live');
