// node --import jumping-clock.ts <program>: the clock of the program jumps when its parent process says so.

let offsetMs = 0;
const RealDate = Date;

class JumpingDate extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(RealDate.now() + offsetMs);
    else super(...given);
  }

  static override now(): number {
    return RealDate.now() + offsetMs;
  }

  /** Dates that the runtime makes are dates, too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === '[object Date]';
  }
}

globalThis.Date = JumpingDate as DateConstructor;
process.on('message', (message: { offsetMs: number }) => {
  offsetMs = message.offsetMs;
});
// Being told of jumps keeps no program alive.
process.channel?.unref();
