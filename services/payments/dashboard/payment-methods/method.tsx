import type { PaymentMethod } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.methods;

export function accountOf({ bank_account: bank }: PaymentMethod): string {
  if (bank === null) return '';
  // The last digits stay beside what they are of.
  return `${bank.holder_name} · ${words.accountTypes[bank.account_type]}\u00a0····\u00a0${bank.last4}`;
}

export function railsOf({ rails }: PaymentMethod): string {
  const names = (list: readonly (keyof typeof texts.rails)[]) =>
    list.length === 0 ? '–' : list.map((rail) => texts.rails[rail]).join(', ');
  const [send, receive] = [names(rails.send), names(rails.receive)];
  return send === receive ? send : words.sendsAndReceives(send, receive);
}
