import { write, writeSync } from 'node:fs';
import { createOutage, type Outage } from './outage.ts';

const BLOCK_CHARACTERS = 4_096;
const FLUSH_MS = 100;
/** So much waits in memory while nothing can be written; what comes after that is lost. */
const WAITING_CHARACTERS_MAX = 16 * 1024 ** 2;
/** Who reads may be slow to the last; the process ends all the same. */
const LAST_TRIES_MAX = 100;
const LAST_PAUSE_MS = 10;
const NOTHING = Buffer.alloc(0);

/**
 * Lines that are written in blocks and without blocking, and at the exit what is left. Where they cannot be written, as on a disk
 * that is full, they wait until they can: nobody's payment may fail because nobody can read of it. Rejected: pino's own output
 * (sonic-boom), which ends the process at the first such error, and at the exit tries again without end.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #outage: Outage;
  #lines: string[] = [];
  #characters = 0;
  /** What is being written, or could not be. */
  #block: Buffer = NOTHING;
  #isWriting = false;
  /** Then it is tried again by the clock, and not at every line. */
  #isStuck = false;

  constructor(fd: number) {
    this.#fd = fd;
    this.#outage = createOutage({
      began: (error) => tellBeside(`the log cannot be written, and waits in memory: ${String(error)}\n`),
      ended: () => {},
    });
    setInterval(() => this.#writeOn(), FLUSH_MS).unref();
    process.once('exit', () => this.#writeRest());
  }

  write(line: string): void {
    if (this.#characters + line.length > WAITING_CHARACTERS_MAX) return;
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters >= BLOCK_CHARACTERS && !this.#isStuck) this.#writeOn();
  }

  #takeBlock(): void {
    this.#block = Buffer.concat([this.#block, Buffer.from(this.#lines.join(''))]);
    this.#lines = [];
    this.#characters = 0;
  }

  #writeOn(): void {
    if (this.#isWriting) return;
    if (this.#block.length === 0) this.#takeBlock();
    if (this.#block.length === 0) return;
    this.#isWriting = true;
    write(this.#fd, this.#block, (error, written) => this.#note(error, written));
  }

  #note(error: NodeJS.ErrnoException | null, written: number): void {
    this.#isWriting = false;
    this.#isStuck = error !== null;
    if (error !== null) {
      if (!isBusy(error)) this.#outage.failed(error);
      return;
    }
    this.#outage.worked();
    this.#block = this.#block.subarray(written);
    if (this.#block.length > 0 || this.#characters >= BLOCK_CHARACTERS) this.#writeOn();
  }

  #writeRest(): void {
    // What is on its way arrives without us, and must not be there twice.
    if (this.#isWriting) this.#block = NOTHING;
    this.#takeBlock();
    for (let tries = 0; this.#block.length > 0 && tries < LAST_TRIES_MAX; tries += 1) {
      try {
        this.#block = this.#block.subarray(writeSync(this.#fd, this.#block));
      } catch (error) {
        if (!isBusy(error as NodeJS.ErrnoException)) {
          this.#outage.failed(error);
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE_MS);
      }
    }
  }
}

/** Nothing is wrong but that who reads is slower than we are. */
function isBusy({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EBUSY';
}

function tellBeside(line: string): void {
  try {
    writeSync(process.stderr.fd, line);
  } catch {
    // It may lead to the same full disk, and there is no third place to tell of it.
  }
}

let output: LogOutput | undefined;

/** Stdout. There is one for all loggers of the process, because each writes by a timer that nothing ends. */
export function logDestination(): LogOutput {
  output ??= new LogOutput(process.stdout.fd);
  return output;
}
