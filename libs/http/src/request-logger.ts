import type { FastifyBaseLogger } from 'fastify';

type LogFn = FastifyBaseLogger['info'];
type LogArguments = Parameters<LogFn>;

/**
 * The logger of one request. Most requests log nothing, and a pino child costs more than the rest of our work on a
 * request, so it is made when the first line is written.
 */
export class RequestLogger {
  readonly #make: () => FastifyBaseLogger;
  #child: FastifyBaseLogger | undefined;

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make;
  }

  get #real(): FastifyBaseLogger {
    this.#child ??= this.#make();
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
