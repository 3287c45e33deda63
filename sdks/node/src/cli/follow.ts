import { DEFAULT_TIMEOUT_MS } from '../config.ts';
import { PaymentsError } from '../errors.ts';
import { sleep } from '../request.ts';
import { askedMs } from '../retry.ts';
import type { Payment, PaymentStatus } from '../types.ts';
import { isFinal, judge, lookTimeoutMs } from '../wait.ts';
import { type Context, type Option, type Values, wholeNumber } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { printable } from './output.ts';

const WATCH_POLL_MS = 500;
const WATCH_SECONDS = 600;
const WATCH_SECONDS_MAX = 7 * 86_400;

export const timeoutOption: Option = {
  type: 'string',
  value: 'seconds',
  help: `how long to wait, ${WATCH_SECONDS} by default`,
};

export interface Wait {
  wanted: readonly PaymentStatus[];
  seconds: number;
}

export function readSeconds(values: Values): number {
  return wholeNumber(values, 'timeout', { least: 1, most: WATCH_SECONDS_MAX }) ?? WATCH_SECONDS;
}

/** Goes on from this look at a payment until it is where it should be, has ended, or time is over. */
export async function follow(context: Context, first: Payment, wait: Wait): Promise<number> {
  const { seconds, wanted } = wait;
  const endsMs = performance.now() + seconds * 1_000;
  let payment = first;
  let shown = 0;
  while (true) {
    showNews(context, payment, shown);
    shown = payment.timeline.length;
    const code = codeOf(context, payment, wanted);
    if (code !== undefined) return code;
    const next = await nextLook(context, payment.id, endsMs);
    if (next instanceof PaymentsError) {
      const unseen = `was last seen ${payment.status}, and not again within ${seconds} s: ${next.message}`;
      context.err(printable(`Payment ${payment.id} ${unseen}`));
      return exitCodes.timeout;
    }
    if (next === undefined) {
      context.err(`Payment ${payment.id} is still ${payment.status} after ${seconds} s.`);
      return exitCodes.timeout;
    }
    payment = next;
  }
}

/** Each status as it is entered; in JSON, the whole payment, a line per change. */
function showNews(context: Context, payment: Payment, shown: number): void {
  const news = payment.timeline.slice(shown);
  if (context.json && news.length > 0) context.out(JSON.stringify(payment));
  else
    for (const { status, timestamp } of news)
      context.out(printable(`${timestamp}  ${status.padEnd(10)}  ${payment.id}`));
}

/** How the command ends; undefined while the payment may still get there. */
function codeOf(context: Context, payment: Payment, wanted: readonly PaymentStatus[]): number | undefined {
  const verdict = judge(payment, wanted);
  if (verdict === 'there') return exitCodes.ok;
  if (verdict === 'waiting' && !isFinal(payment.status)) return undefined;
  const why = payment.failure === null ? '' : `: ${payment.failure.detail}`;
  context.err(printable(`Payment ${payment.id} is ${payment.status}${why}`));
  return exitCodes.unexpectedStatus;
}

/** The next look that shows something; where time is over before, what the last one failed with, if one did. */
async function nextLook(
  context: Context,
  id: string,
  endsMs: number,
): Promise<Payment | PaymentsError | undefined> {
  const { signal } = context;
  const { payments } = context.client();
  let failure: PaymentsError | undefined;
  while (performance.now() < endsMs) {
    const pauseMs = Math.max(WATCH_POLL_MS, askedMs(failure?.retry_after));
    await sleep(Math.min(pauseMs, endsMs - performance.now()), signal);
    try {
      const timeoutMs = lookTimeoutMs(endsMs - performance.now(), DEFAULT_TIMEOUT_MS);
      return await payments.get(id, { timeoutMs, maxRetries: 0, signal });
    } catch (error) {
      // A server that restarts meanwhile is no reason to stop following; a refusal is.
      if (!(error instanceof PaymentsError && error.retryable)) throw error;
      failure = error;
    }
  }
  return failure;
}
