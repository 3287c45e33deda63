import type { LogDestination, Trace } from '@libs/runtime';

export type AccessLine = {
  requestId: string;
  trace: Trace | undefined;
  status: number;
  durationMs: number;
};

export type WriteAccessLine = (line: AccessLine) => void;

/**
 * The one line that every answered request leaves. It has the form of pino's lines but is put together by hand: all its
 * parts are known not to need escaping or redaction, and pino's general way cost a fifth of a small request's time.
 */
export class AccessLog {
  readonly #destination: LogDestination;
  readonly #base: string;
  readonly #now: () => number;
  #timeMs = 0;
  #time = '';

  constructor(options: { destination: LogDestination; service: string; now?: () => number }) {
    this.#destination = options.destination;
    this.#base = `"service":${JSON.stringify(options.service)},"pid":${process.pid},"request_id":"`;
    this.#now = options.now ?? Date.now;
  }

  /** The writer of one route; method and route are escaped once. */
  forRoute(method: string, route: string): WriteAccessLine {
    const place = `"method":${JSON.stringify(method)},"route":${JSON.stringify(route)},"status":`;
    return ({ requestId, trace, status, durationMs }) => {
      const traceFields =
        trace === undefined ? '' : `"trace_id":"${trace.traceId}","parent_id":"${trace.parentId}",`;
      const duration = Math.round(durationMs * 10) / 10;
      this.#destination.write(
        `{"level":"info","time":"${this.#isoTime()}",${this.#base}${requestId}",${traceFields}${place}${status},"duration_ms":${duration},"msg":"request"}\n`,
      );
    };
  }

  #isoTime(): string {
    const nowMs = this.#now();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#time = new Date(nowMs).toISOString();
    }
    return this.#time;
  }
}
