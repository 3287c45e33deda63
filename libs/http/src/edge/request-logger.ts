import { parseTraceparent } from '@libs/runtime';
import type { FastifyBaseLogger } from 'fastify';

type LogFn = FastifyBaseLogger['info'];
type LogArguments = Parameters<LogFn>;

/**
 * The logger of one request. Most requests log nothing, and a pino child costs more than the rest of our work on a
 * request, so it is made when the first line is written.
 */
export class RequestLogger {
  readonly #make: (more: object) => FastifyBaseLogger;
  #child: FastifyBaseLogger | undefined;
  /** The header of the request, where it has one: the lines then say which trace they belong to. */
  traceparent: string | string[] | undefined;

  constructor(make: (more: object) => FastifyBaseLogger) {
    this.#make = make;
  }

  get #real(): FastifyBaseLogger {
    this.#child ??= this.#make(traceFields(this.traceparent));
    return this.#child;
  }

  get level(): string {
    return this.#real.level;
  }

  set level(level: string) {
    this.#real.level = level;
  }

  fatal(...args: LogArguments): void {
    this.#real.fatal(...args);
  }
  error(...args: LogArguments): void {
    this.#real.error(...args);
  }
  warn(...args: LogArguments): void {
    this.#real.warn(...args);
  }
  info(...args: LogArguments): void {
    this.#real.info(...args);
  }
  debug(...args: LogArguments): void {
    this.#real.debug(...args);
  }
  trace(...args: LogArguments): void {
    this.#real.trace(...args);
  }
  silent(): void {}

  child(...args: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#real.child(...args);
  }
}

function traceFields(traceparent: string | string[] | undefined): object {
  const trace = parseTraceparent(traceparent);
  return trace === undefined ? {} : { trace_id: trace.traceId, parent_id: trace.parentId };
}

/**
 * Fastify asks its logger for a child at every request. Answered here and not by a `childLoggerFactory`, because what
 * such a factory makes is looked through for its seven methods each time, which was a fiftieth of accepting a payment.
 */
export function makeChildrenLazily(logger: FastifyBaseLogger): void {
  const { child } = logger;
  logger.child = ((bindings: object, options?: object) =>
    new RequestLogger((more) => {
      const made = child.call(logger, { ...bindings, ...more }, options);
      // It inherits from this logger, whose own way is for requests alone.
      made.child = child;
      return made;
    })) as FastifyBaseLogger['child'];
}
