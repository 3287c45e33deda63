import type { PaymentMethod } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.methods;

export function accountOf({ bank_account: bank }: PaymentMethod): string {
  if (bank === null) return '';
  return `${bank.holder_name} · ${words.accountTypes[bank.account_type]} ···· ${bank.last4}`;
}

export function railsOf({ rails }: PaymentMethod): string {
  const names = (list: readonly (keyof typeof texts.rails)[]) =>
    list.length === 0 ? '–' : list.map((rail) => texts.rails[rail]).join(', ');
  return `${names(rails.send)} · ${names(rails.receive)}`;
}
