import type { Database } from '@libs/db';
import { type CronEntry, completeJobs, dailyAt, enqueueJobs, type Handler, type NewJob } from '@libs/jobs';
import {
  NEW_PASS,
  type RotationDependencies,
  type RotationPlace,
  type RotationTally,
  resealPage,
} from './rotation.ts';

const RESEAL_JOB = 'keys.reseal';

/** A job ends after this many pages and plants the next, so that a process that stops has little to wait for. */
const PAGES_PER_JOB = 20;
/** A pass that changed something is followed by one that looks whether it was enough; not at once, where a process still writes with an older key. */
const LOOK_AGAIN_MS = 10 * 60_000;
const DAILY_AT = { hour: 4, minute: 10 } as const;

export interface RotationJob {
  readonly handlers: readonly Handler[];
  readonly cron: readonly CronEntry[];
  /** Begins a pass now, where there is more than one key. */
  readonly background: { start(): Promise<void>; stop(): Promise<void> };
}

export interface RotationJobOptions extends RotationDependencies {
  readonly database: Database;
  readonly now: () => Date;
  /** Told at the end of each pass. */
  readonly onPass: (tally: RotationTally) => void;
}

/**
 * A pass on its way from one job to the next. Versions before this one called the place `place`, and counted columns there:
 * each begins anew with a job of the other.
 */
interface Carried {
  readonly at?: RotationPlace;
  readonly tally?: RotationTally;
}

/** The rotation as work of the service: a little at a time, by one process at a time, from where it got to. */
export function createRotationJob(options: RotationJobOptions): RotationJob {
  const { database, sealer, now, onPass } = options;
  const hasOlderKeys = sealer.keyIds.length > 1;

  const plant = (tx: Pick<Database, 'query'>, job: Omit<NewJob, 'name'>) =>
    enqueueJobs(tx, database.schema, [{ name: RESEAL_JOB, ...job }]);

  const handler: Handler = {
    name: RESEAL_JOB,
    batchMax: 1,
    async handle(jobs, { signal }) {
      if (!hasOlderKeys) return;
      const { at, tally: before } = (jobs[0]?.payload ?? {}) as Carried;
      let pass: Awaited<ReturnType<typeof resealPage>> =
        at === undefined || before === undefined ? NEW_PASS : { place: at, tally: before };
      for (let page = 0; page < PAGES_PER_JOB && pass.place !== null && !signal.aborted; page += 1)
        pass = await resealPage(options, pass);
      const { place, tally } = pass;
      await database.transaction(async (tx) => {
        if (place !== null)
          await plant(tx, { payload: { at: place, tally } satisfies Carried, key: 'continue' });
        else if (tally.resealed > 0)
          await plant(tx, { payload: {}, key: 'continue', runAt: new Date(now().getTime() + LOOK_AGAIN_MS) });
        // The daily one is ended by the worker, together with the planting of the next: a process that dies in between would lose it.
        await completeJobs(
          tx,
          jobs.filter(({ key }) => key !== 'cron'),
        );
      });
      if (place === null) onPass(tally);
    },
  };

  return {
    handlers: [handler],
    cron: [{ name: RESEAL_JOB, schedule: dailyAt(DAILY_AT.hour, DAILY_AT.minute) }],
    background: {
      start: () => (hasOlderKeys ? plant(database, { payload: {}, key: 'start' }) : Promise.resolve()),
      stop: () => Promise.resolve(),
    },
  };
}
