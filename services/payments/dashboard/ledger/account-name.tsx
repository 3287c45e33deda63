import { OWED_PREFIX } from '../../src/ledger/transfer.ts';
import { MethodName } from '../payment-methods/method.tsx';
import { texts } from '../texts.ts';

const names: Readonly<Record<string, string>> = texts.ledger.accountNames;

/** Accounts that every organisation has go by a name; the others are of a payment method, or of what its holder owes. */
export function AccountName({ id }: { id: string }) {
  if (id.startsWith(OWED_PREFIX))
    return (
      <span title={id}>
        {texts.ledger.owedBy} <MethodName id={id.slice(OWED_PREFIX.length)} />
      </span>
    );
  return names[id] === undefined ? <MethodName id={id} /> : <span title={id}>{names[id]}</span>;
}
