import { DRAIN_TIMEOUT_MS } from './drain.ts';
import type { Logger } from './log.ts';

export type Closer = { name: string; close: () => Promise<unknown> | unknown };

/** What runs: a server that knows how to stop, with its log. */
type Running = {
  readonly log: Pick<Logger, 'info' | 'error'>;
  leave(): Promise<void>;
  drain(options: { timeoutMs: number }): Promise<void>;
};

export type RunOptions = {
  app: Running;
  /** Called when draining begins, before the server closes: stop taking jobs, end streams. */
  onDrain?: () => Promise<unknown> | unknown;
  /** Closed one after the other once no request is open: workers, then pools, then the embedded database. */
  closers?: readonly Closer[];
  /** As long as the longest request may take. */
  drainTimeoutMs?: number;
  closeTimeoutMs?: number;
  exit?: (code: number) => void;
  /** Where the signals come from; the process itself except in tests. */
  signals?: Pick<NodeJS.Process, 'on' | 'off'> & { connected?: boolean };
};

const CLOSE_TIMEOUT_MS = 15_000;

/**
 * Resolves when the process has been told to stop and everything is closed. SIGTERM and SIGINT stop it, and so does
 * the loss of the parent that spawned it with an IPC channel, so that no service outlives `npm start`.
 */
export function runUntilSignal(options: RunOptions): Promise<void> {
  const { signals = process, exit = (code: number) => process.exit(code) } = options;
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (reason: string): void => {
      if (stopping) return;
      stopping = true;
      options.app.log.info({ reason, drain_ms: options.drainTimeoutMs ?? DRAIN_TIMEOUT_MS }, 'stopping');
      void shutDown(options).then((clean) => {
        signals.off('SIGTERM', onTerm);
        signals.off('SIGINT', onInterrupt);
        signals.off('disconnect', onDisconnect);
        resolve();
        exit(clean ? 0 : 1);
      });
    };
    const onTerm = (): void => stop('SIGTERM');
    // The terminal sends SIGINT to the whole group and the parent forwards a stop as well: repeats change nothing.
    const onInterrupt = (): void => stop('SIGINT');
    const onDisconnect = (): void => stop('parent gone');
    signals.on('SIGTERM', onTerm);
    signals.on('SIGINT', onInterrupt);
    if (signals.connected === true) signals.on('disconnect', onDisconnect);
  });
}

async function shutDown(options: RunOptions): Promise<boolean> {
  const { app, closers = [], drainTimeoutMs = DRAIN_TIMEOUT_MS, closeTimeoutMs = CLOSE_TIMEOUT_MS } = options;
  const draining: Closer = {
    name: 'http',
    close: async () => {
      await app.leave();
      const closed = app.drain({ timeoutMs: drainTimeoutMs });
      await options.onDrain?.();
      await closed;
    },
  };
  let clean = await closeOne(app, draining, drainTimeoutMs + closeTimeoutMs);
  for (const closer of closers) clean = (await closeOne(app, closer, closeTimeoutMs)) && clean;
  return clean;
}

/** One closer that fails or hangs must not keep the others from closing. */
async function closeOne(app: Running, closer: Closer, timeoutMs: number): Promise<boolean> {
  try {
    await closeInTime(closer, timeoutMs);
    return true;
  } catch (error) {
    app.log.error({ err: error, closer: closer.name }, 'closing failed');
    return false;
  }
}

async function closeInTime(closer: Closer, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`did not close within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([Promise.resolve(closer.close()), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs a start that notes in `closers` what it opens, newest first; when a step fails, all of that is closed. The step's
 * error is the one to report, so whatever does not close in time, or fails to, is left to the end of the process.
 */
export async function closingOnFailure(
  start: (closers: Closer[]) => Promise<void>,
  { closeTimeoutMs = CLOSE_TIMEOUT_MS }: { closeTimeoutMs?: number } = {},
): Promise<void> {
  const closers: Closer[] = [];
  try {
    await start(closers);
  } catch (error) {
    for (const closer of closers) await closeInTime(closer, closeTimeoutMs).catch(() => undefined);
    throw error;
  }
}
