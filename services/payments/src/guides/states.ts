import { markdownTable } from '@libs/docs';
import type { AttemptStatus } from '../payments/payment.ts';
import {
  finalStatuses,
  type MoneyEffect,
  type MoveName,
  moves,
  type PaymentStatus,
  paymentStatuses,
} from '../payments/states.ts';
import { asCode } from './figures.ts';

const statusMeanings: Readonly<Record<PaymentStatus, string>> = {
  pending: 'Accepted. Nothing has left yet, and it can still be canceled.',
  processing: 'Handed to the rail. Nobody can call it back.',
  canceled: 'Canceled before it left: by you, or a refund because its payment was returned.',
  failed: 'Refused, or sent back before it settled. Nobody was paid.',
  completed: 'The money has arrived. Over ACH it may still be returned.',
  returned: 'Sent back by the bank of its source or of its destination after it was completed.',
};

const moveMeanings: Readonly<Record<MoveName, string>> = {
  accepted: 'the request was accepted',
  submitted: 'handed to the rail',
  canceled: 'you canceled it, or it is a refund of a payment that was returned',
  refused: 'the rail refused it, and no other may try',
  settled: 'the rail settled it',
  returned: 'a bank sent it back',
};

const moneyMeanings: Readonly<Record<MoneyEffect, string>> = {
  hold: 'the amount is held',
  release: 'the hold ends',
  post: 'the amount is booked',
  reverse: 'the booking is taken back',
};

const attemptMeanings: Readonly<Record<AttemptStatus, string>> = {
  waiting: 'not sent yet',
  submitted: 'with the network',
  settled: 'settled',
  rejected: 'refused; `code` and `detail` say why',
  returned: 'sent back; `code` and `detail` say why',
  unknown: 'no answer in time: the network is asked, and nothing is sent a second way',
};

export function stateIncludes(): Record<string, string> {
  return {
    statuses: markdownTable(
      ['Status', 'Means', 'Final'],
      paymentStatuses.map((status) => [
        asCode(status),
        statusMeanings[status],
        finalStatuses.includes(status) ? 'yes' : 'no',
      ]),
    ),
    moves: markdownTable(
      ['From', 'What happens', 'To', 'In the books'],
      moves.map(({ from, by, to, money }) => [
        from === null ? '–' : asCode(from),
        moveMeanings[by],
        asCode(to),
        money === null ? '–' : moneyMeanings[money],
      ]),
    ),
    attempts: markdownTable(
      ['Attempt', 'Means'],
      Object.entries(attemptMeanings).map(([status, meaning]) => [asCode(status), meaning]),
    ),
  };
}
