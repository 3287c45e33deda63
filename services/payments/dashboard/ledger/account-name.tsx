import { MethodName } from '../payment-methods/method.tsx';
import { texts } from '../texts.ts';

const names: Readonly<Record<string, string>> = texts.ledger.accountNames;

/** Accounts that every organisation has go by a name; the others are of a payment method. */
export function AccountName({ id }: { id: string }) {
  return names[id] === undefined ? <MethodName id={id} /> : <span title={id}>{names[id]}</span>;
}
