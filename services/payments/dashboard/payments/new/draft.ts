import { parseAmount } from '@libs/ui';

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

const PAIR = /^([^=]{1,40})=(.*)$/;

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function areMetadataLines(text: string): boolean {
  return linesOf(text).every((line) => PAIR.test(line));
}

/** The body that a payment and its quote are asked for with; nothing while something is missing. */
export function bodyOfDraft(draft: PaymentDraft): Record<string, unknown> | undefined {
  const amount = parseAmount(draft.amount);
  const [from, to] = [draft.from.trim(), draft.to.trim()];
  if (amount === undefined || amount === 0 || from === '' || to === '') return undefined;
  if (!areMetadataLines(draft.metadata)) return undefined;
  const pairs = linesOf(draft.metadata).map((line) => {
    const [, key = '', value = ''] = PAIR.exec(line) ?? [];
    return [key.trim(), value.trim()];
  });
  return {
    amount,
    currency: 'USD',
    source: { payment_method_id: from },
    destination: { payment_method_id: to },
    rail: draft.rail,
    ...(draft.rail === 'auto' ? { routing: { prefer: draft.prefer, fallback: draft.fallback } } : {}),
    ...(draft.description.trim() === '' ? {} : { description: draft.description.trim() }),
    ...(pairs.length === 0 ? {} : { metadata: Object.fromEntries(pairs) }),
  };
}
