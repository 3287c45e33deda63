import { parseAmount } from '@libs/ui/amount';
import type { Payment } from '../../api/types.ts';

/** What the form holds, as it is typed. */
export interface PaymentDraft {
  amount: string;
  from: string;
  to: string;
  rail: 'auto' | 'rtp' | 'ach';
  prefer: 'balanced' | 'speed' | 'cost';
  fallback: boolean;
  description: string;
  metadata: string;
}

export const emptyDraft: PaymentDraft = {
  ...{ amount: '', from: '', to: '', rail: 'auto', prefer: 'balanced', fallback: true },
  ...{ description: '', metadata: '' },
};

const CENTS = 100;

/** The same order once more. Whether it could fall back to another rail is not known of a payment; most can. */
export function draftOf(payment: Payment): PaymentDraft {
  return {
    ...emptyDraft,
    amount: (payment.amount / CENTS).toFixed(2),
    from: payment.source.payment_method_id,
    to: payment.destination.payment_method_id,
    rail: payment.rail,
    prefer: payment.rail_decision.prefer,
    description: payment.description ?? '',
    metadata: Object.entries(payment.metadata).map(lineOf).join('\n'),
  };
}

type Pair = readonly [key: string, value: string];

const PAIR = /^([^=]{1,40})=(.*)$/;
/** For what programs wrote and a line cannot hold as it is: `"two\nlines"="a=b"`. */
const QUOTED_PAIR = /^("(?:[^"\\]|\\.)*")=("(?:[^"\\]|\\.)*")$/;

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function pairOf(line: string): Pair | undefined {
  const [, quotedKey = '', quotedValue = ''] = QUOTED_PAIR.exec(line) ?? [];
  const [key, value] = [unquoted(quotedKey), unquoted(quotedValue)];
  if (key !== undefined && value !== undefined) return [key, value];
  const [, plainKey, plainValue = ''] = PAIR.exec(line) ?? [];
  return plainKey === undefined ? undefined : [plainKey.trim(), plainValue.trim()];
}

/** Nothing where quotes are just characters of a text. */
function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

function lineOf([key, value]: Pair): string {
  const plain = `${key}=${value}`;
  const read = /[\r\n]/.test(plain) ? undefined : pairOf(plain.trim());
  if (read?.[0] === key && read[1] === value) return plain;
  return `${JSON.stringify(key)}=${JSON.stringify(value)}`;
}

export function areMetadataLines(text: string): boolean {
  return linesOf(text).every((line) => pairOf(line) !== undefined);
}

/** A key that stands on two lines: one of their values would be lost without a word. */
export function repeatedKey(text: string): string | undefined {
  const keys = linesOf(text).map((line) => pairOf(line)?.[0]);
  return keys.find((key, index) => key !== undefined && keys.indexOf(key) !== index);
}

/** What decides rail and fee. An account that is missing is left out, so that the server names its field alone. */
function orderOf(draft: PaymentDraft): Record<string, unknown> {
  const accountOf = (typed: string) => (typed.trim() === '' ? {} : { payment_method_id: typed.trim() });
  return {
    amount: parseAmount(draft.amount),
    currency: 'USD',
    source: accountOf(draft.from),
    destination: accountOf(draft.to),
    rail: draft.rail,
    ...(draft.rail === 'auto' ? { routing: { prefer: draft.prefer, fallback: draft.fallback } } : {}),
  };
}

/** The body that a quote is asked for with; nothing while something of it is missing. */
export function quotedBodyOf(draft: PaymentDraft): Record<string, unknown> | undefined {
  const isWhole = parseAmount(draft.amount) && draft.from.trim() !== '' && draft.to.trim() !== '';
  return isWhole ? orderOf(draft) : undefined;
}

/** The body that a payment is asked for with, when its amount and its metadata have been found good. */
export function bodyOfDraft(draft: PaymentDraft): Record<string, unknown> {
  const pairs = linesOf(draft.metadata)
    .map(pairOf)
    .filter((pair) => pair !== undefined);
  return {
    ...orderOf(draft),
    ...(draft.description.trim() === '' ? {} : { description: draft.description.trim() }),
    ...(pairs.length === 0 ? {} : { metadata: Object.fromEntries(pairs) }),
  };
}
