import type { Queryable } from '@libs/db';
import type { MethodCorrection } from '../../../payment-methods/method.ts';
import type { Payment } from '../../../payments/payment.ts';
import { compareTenantKeys } from '../../../tenant.ts';
import type { Correction } from '../codes/codes.ts';
import { methodIdOf } from '../entries/entry.ts';
import { paymentOf } from '../entries/payments.ts';
import { type AchScope, modeOfScope } from '../entries/scope.ts';
import { findTransactionCode } from '../nacha/transaction-codes.ts';
import type { AchContext } from '../work/context.ts';
import { timeOf } from '../work/time.ts';
import type { Match } from './matching.ts';

interface Correcting {
  scope: AchScope;
  matches: readonly Match[];
  payments: ReadonlyMap<string, Payment>;
}

/**
 * Last, and in the order of their keys: an account whose rails change raises its tenant's version, which whoever accepts payments
 * locks after the balances, and tenant by tenant.
 */
export async function correctMethods(
  tx: Queryable,
  context: AchContext,
  { scope, matches, payments }: Correcting,
): Promise<void> {
  const corrections = matches
    .flatMap(({ entry, answer }) => {
      if (answer.kind !== 'noc') return [];
      const id = methodIdOf(paymentOf(payments, entry), entry.leg);
      return { key: { tenantId: entry.tenantId, id }, correction: toMethodCorrection(answer.correction) };
    })
    .toSorted((a, b) => compareTenantKeys(a.key, b.key));
  if (corrections.length === 0) return;
  const stamp = await timeOf(context, tx, scope);
  for (const { key, correction } of corrections) {
    try {
      await context.applyCorrection(tx, key, correction, stamp.now);
    } catch (error) {
      if (!context.isLostForGood(error, modeOfScope(scope))) throw error;
      // The account is of no use any more, and the file has answers for others.
      context.log.error(
        { rail: 'ach', methodId: key.id },
        'an account that cannot be opened is not corrected',
      );
    }
  }
}

function toMethodCorrection({
  routingNumber,
  accountNumber,
  name,
  transactionCode,
}: Correction): MethodCorrection {
  const account = transactionCode === undefined ? undefined : findTransactionCode(transactionCode)?.account;
  const accountType = account === 'checking' || account === 'savings' ? account : undefined;
  return {
    ...(routingNumber === undefined ? {} : { routingNumber }),
    ...(accountNumber === undefined ? {} : { accountNumber }),
    ...(name === undefined ? {} : { holderName: name }),
    ...(accountType === undefined ? {} : { accountType }),
  };
}
