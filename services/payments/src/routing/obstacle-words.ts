import type { Obstacle } from './decision.ts';

/** Why a rail cannot carry a payment, for people, as a part of a sentence about that rail: the API and the dashboard say the same. */
export const obstacleWords: Readonly<Record<Obstacle, string>> = {
  source_cannot_send: 'the source account cannot send by it',
  destination_cannot_receive: 'the destination account cannot receive by it',
  amount_over_limit: 'the amount is over its limit',
  only_between_balances: 'it moves money between two balances only',
  not_between_balances: 'it does not move money between two balances',
  not_configured: 'it is not connected',
  down: 'it is out of order for the moment',
  refused: 'it has refused this payment',
};
