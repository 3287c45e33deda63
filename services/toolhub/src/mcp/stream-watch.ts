import { AppError, type Outage } from '@libs/runtime';

/** A revoked token has stopped within a second; nearly always this is a look into the memory of the process. */
const CHECK_MS = 500;

export interface StreamWatchDependencies {
  /** Lasts while tokens cannot be looked up: one for all streams. */
  outage: Outage;
  checkMs?: number;
}

export interface WatchedStream {
  /** Throws an `AppError` for who may no longer listen; any other failure tells nothing about them. */
  check: () => unknown;
  end: () => void;
}

/** Ends streams that would outlive their token or the good standing of their customer. Answers how watching stops. */
export type WatchStream = (stream: WatchedStream) => () => void;

export function createStreamWatch({ outage, checkMs = CHECK_MS }: StreamWatchDependencies): WatchStream {
  async function look(stream: WatchedStream, isWatched: () => boolean): Promise<void> {
    try {
      await stream.check();
      outage.worked(stream);
    } catch (error) {
      if (!isWatched()) return;
      if (!(error instanceof AppError)) outage.failed(error, stream);
      else {
        outage.worked(stream);
        stream.end();
      }
    }
  }

  return (stream) => {
    let isWatched = true;
    let isLooking = false;
    const timer = setInterval(async () => {
      // One look at a time: those that a silent database keeps waiting must not add up.
      if (isLooking) return;
      isLooking = true;
      await look(stream, () => isWatched);
      isLooking = false;
    }, checkMs);
    return () => {
      isWatched = false;
      clearInterval(timer);
      outage.left(stream);
    };
  };
}
