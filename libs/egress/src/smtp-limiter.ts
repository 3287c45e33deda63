/** What an SMTP server may say in one connection. RFC 5321 allows lines of 512 bytes; some servers are chattier. */
export interface SmtpLimits {
  lineBytes: number;
  lines: number;
  bytes: number;
}

export const SMTP_LIMITS: SmtpLimits = { lineBytes: 4 * 1024, lines: 2_000, bytes: 256 * 1024 };

export class SmtpLimitExceeded extends Error {
  override readonly name = 'SmtpLimitExceeded';
  readonly code = 'ANSWER_TOO_LARGE';
}

const LF = 0x0a;

/** Counts what comes before the library sees it; a whole connection is small, so nothing is ever counted anew. */
export class SmtpLimiter {
  readonly #limits: SmtpLimits;
  #lineBytes = 0;
  #lines = 0;
  #bytes = 0;

  constructor(limits: SmtpLimits = SMTP_LIMITS) {
    this.#limits = limits;
  }

  check(chunk: Buffer): void {
    const { lineBytes, lines, bytes } = this.#limits;
    this.#bytes += chunk.length;
    if (this.#bytes > bytes) throw new SmtpLimitExceeded(`more than ${bytes} bytes`);
    for (let position = 0; position < chunk.length; ) {
      const lineEnd = chunk.indexOf(LF, position) + 1;
      const end = lineEnd === 0 ? chunk.length : lineEnd;
      this.#lineBytes += end - position;
      if (this.#lineBytes > lineBytes) throw new SmtpLimitExceeded(`a line of more than ${lineBytes} bytes`);
      position = end;
      if (lineEnd === 0) return;
      this.#lineBytes = 0;
      this.#lines += 1;
      if (this.#lines > lines) throw new SmtpLimitExceeded(`more than ${lines} lines`);
    }
  }
}
