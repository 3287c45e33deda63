import type { CreditTransfer } from './credit-transfer.ts';
import { type BusinessHeader, businessMessageIdIn, type OpenedEnvelope } from './envelope.ts';
import type { StatusReport } from './status-report.ts';

/*
 * The sandbox's network lies in the same process as whoever writes to it and reads its answers, and a message is read a
 * moment after it was written. What it says is known then, and parsing it would find just that. It is kept by the text
 * itself, so nobody can be told what does not stand in it; a text that is not known is read like everybody's. It is
 * found by the id in its header and then compared, which takes a moment where it is the very same text: to look it up by the
 * whole of itself, all of its two thousand characters were hashed.
 */

/** Some batches; what nobody reads in time makes room for what comes next. */
const KEPT_MAX = 1_000;

interface Written<Message> {
  xml: string;
  opened: OpenedEnvelope<Message>;
}

class JustWritten<Message> {
  readonly #kept = new Map<string, Written<Message>>();

  /** `message` as a reader finds it: texts are mapped when they are written. */
  remember(xml: string, header: BusinessHeader, message: Message): void {
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
    this.#kept.set(header.businessMessageId, { xml, opened: { header, message } });
  }

  /** Once: nobody reads a message twice in passing. */
  take(xml: string): OpenedEnvelope<Message> | undefined {
    if (this.#kept.size === 0) return undefined;
    const id = businessMessageIdIn(xml);
    const known = this.#kept.get(id);
    if (known?.xml !== xml) return undefined;
    this.#kept.delete(id);
    return known.opened;
  }
}

export const justWrittenTransfers = new JustWritten<CreditTransfer>();
export const justWrittenReports = new JustWritten<StatusReport>();
