import type { CreditTransfer } from './credit-transfer.ts';
import type { BusinessHeader, OpenedEnvelope } from './envelope.ts';
import type { StatusReport } from './status-report.ts';

/*
 * The sandbox's network lies in the same process as whoever writes to it and reads its answers, and a message is read a
 * moment after it was written. What it says is known then, and parsing it would find just that. It is kept by the text
 * itself, so nobody can be told what does not stand in it; a text that is not known is read like everybody's.
 */

/** Some batches; what nobody reads in time makes room for what comes next. */
const KEPT_MAX = 1_000;

class JustWritten<Message> {
  readonly #kept = new Map<string, OpenedEnvelope<Message>>();

  /** `message` as a reader finds it: texts are mapped when they are written. */
  remember(xml: string, header: BusinessHeader, message: Message): void {
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
    this.#kept.set(xml, { header, message });
  }

  /** Once: nobody reads a message twice in passing. */
  take(xml: string): OpenedEnvelope<Message> | undefined {
    const known = this.#kept.get(xml);
    if (known) this.#kept.delete(xml);
    return known;
  }
}

export const justWrittenTransfers = new JustWritten<CreditTransfer>();
export const justWrittenReports = new JustWritten<StatusReport>();
