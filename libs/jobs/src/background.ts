import { type CronEntry, type Handler, startWorker, type Worker, type WorkerOptions } from './worker.ts';

/** What one part of a service has to do beside requests. */
export interface BackgroundPart {
  readonly handlers: readonly Handler[];
  readonly cron: readonly CronEntry[];
  /** What runs beside the jobs, in processes that take them. */
  readonly background?: { start(): Promise<void>; stop(): Promise<void> };
}

export interface Background {
  start(): Promise<void>;
  /** Takes nothing new, and waits for what is under way; also after a start that failed half-way, and more than once. */
  stop(): Promise<void>;
}

/** The work of all parts of a service, in processes that do it: one worker for their jobs, and whatever else runs for them. */
export function createBackground(
  parts: readonly BackgroundPart[],
  options: Omit<WorkerOptions, 'handlers' | 'cron'>,
): Background {
  let worker: Worker | undefined;
  let begun: NonNullable<BackgroundPart['background']>[] = [];
  return {
    async start() {
      worker = await startWorker({
        ...options,
        handlers: parts.flatMap(({ handlers }) => handlers),
        cron: parts.flatMap(({ cron }) => cron),
      });
      for (const { background } of parts) {
        if (background === undefined) continue;
        // Noted first: one that fails at its start may hold something already.
        begun.push(background);
        await background.start();
      }
    },
    async stop() {
      const stopping = [worker?.drain(), ...begun.map((background) => background.stop())];
      worker = undefined;
      begun = [];
      // Side by side: a job that takes long must not keep webhooks from ending what they send.
      await Promise.all(stopping);
    },
  };
}
