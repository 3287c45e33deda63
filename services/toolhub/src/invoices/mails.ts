import type { Database, Queryable } from '@libs/db';
import { MailError, type Mailer } from '@libs/mail';
import { toMail } from './mail-text.ts';
import { printInvoice } from './paper/print.ts';
import type { Seller } from './parties.ts';
import type { Period } from './period.ts';
import { next } from './states.ts';
import { type ClaimedMail, claimMails, lockInvoice, type MailOutcome, recordMail } from './store.ts';
import { releaseWaitingMails } from './waiting-store.ts';

export interface InvoiceMailsDependencies {
  database: Database;
  mailer: Pick<Mailer, 'send'>;
  seller: Seller;
  publicUrl: string;
  now: () => Date;
  onError: (error: unknown, context: { invoice: string }) => void;
  /** How long a mail that a killed process was sending stays untouched; tests shorten it. */
  mailLeaseMs?: number;
}

export interface SendOptions {
  /** Null: of every period. */
  period: Period | null;
  mailsMax: number;
  signal: AbortSignal;
}

export interface InvoiceMails {
  /** Sends what is due. Stops early when the mail server is away: what is left stays due. */
  sendDue(options: SendOptions): Promise<SendCounts>;
}

export interface SendCounts {
  sent: number;
  failed: number;
  /** Whether it stopped at `mailsMax` and not because it is done or cannot go on. */
  isMoreDue: boolean;
}

const TOGETHER_MAX = 8;
/** More than the longest that one mail can take, so that nobody sends a mail that is still being sent. */
const LEASE_MS = 5 * 60_000;
const ATTEMPTS_MAX = 40;
const RETRY_MS_MIN = 60_000;
const RETRY_MS_MAX = 6 * 60 * 60_000;
const ERROR_TEXT_MAX = 500;

/**
 * A mail is claimed before it is sent and recorded after. A process that dies in between leaves a mail that may have
 * gone out; whoever sends it again sends the very same one, under the same Message-ID, or the same file.
 */
export function createInvoiceMails(deps: InvoiceMailsDependencies): InvoiceMails {
  const { database, mailer, now } = deps;

  async function send(mail: ClaimedMail): Promise<MailOutcome & { isServerAway: boolean }> {
    try {
      const pdf = await printInvoice(mail.invoice, deps.seller);
      await mailer.send(
        toMail(mail.invoice, pdf, { publicUrl: deps.publicUrl, payment: deps.seller.payment }),
      );
      return { kind: 'sent', at: now(), isServerAway: false };
    } catch (error) {
      deps.onError(error, { invoice: mail.invoice.id });
      const text = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_TEXT_MAX);
      return {
        kind: 'failed',
        error: text,
        retryInMs: mail.attempt >= ATTEMPTS_MAX ? null : retryDelayMs(mail.attempt),
        isServerAway: error instanceof MailError && error.kind === 'unreachable',
      };
    }
  }

  async function sendAndRecord(mail: ClaimedMail): Promise<'sent' | 'failed' | 'server_away'> {
    const outcome = await send(mail);
    await database.transaction(async (tx) => {
      const current = await lockInvoice(tx, mail.invoice.id);
      if (current === undefined) return;
      const status = next(current.status, outcome.kind === 'sent' ? 'mail_sent' : 'mail_failed');
      await recordMail(tx, mail, { ...outcome, status: status ?? current.status });
    });
    if (outcome.isServerAway) return 'server_away';
    return outcome.kind;
  }

  return {
    async sendDue({ period, mailsMax, signal }) {
      const counts = { sent: 0, failed: 0 };
      for (let left = mailsMax; left > 0; left = mailsMax - counts.sent - counts.failed) {
        const leaseMs = deps.mailLeaseMs ?? LEASE_MS;
        const limit = Math.min(TOGETHER_MAX, left);
        const claimed = signal.aborted ? [] : await claimMails(database, { period, limit, leaseMs });
        const outcomes = await Promise.all(claimed.map(sendAndRecord));
        counts.sent += outcomes.filter((outcome) => outcome === 'sent').length;
        counts.failed += outcomes.filter((outcome) => outcome !== 'sent').length;
        // Also true when there was nothing to send.
        if (outcomes.every((outcome) => outcome === 'server_away')) return { ...counts, isMoreDue: false };
      }
      return { ...counts, isMoreDue: true };
    },
  };
}

/** In the transaction that verifies the customer's address: what waited for that is due. */
export function releaseWaitingInvoices(tx: Queryable, customerId: string): Promise<void> {
  return releaseWaitingMails(tx, customerId);
}

function retryDelayMs(attempt: number): number {
  return Math.min(RETRY_MS_MIN * 2 ** (attempt - 1), RETRY_MS_MAX);
}
