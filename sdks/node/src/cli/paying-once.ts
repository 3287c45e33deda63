import { randomUUID } from 'node:crypto';
import { ConnectionFailedError, PaymentsError } from '../errors.ts';
import type { WriteOptions } from '../request.ts';
import type { Payment } from '../types.ts';
import { type Context, textValue } from './command.ts';

/** Nobody knows whether the payment was accepted; a repeat with the same key finds out, and pays once. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
  readonly hint: string;

  constructor(cause: unknown, key: string) {
    super('The outcome is unknown', { cause });
    this.hint = `It may have been accepted: repeat with --idempotency-key ${key} to pay once.`;
  }
}

/** Sends a new payment with a key that is known here, since who repeats the command needs it where no answer came. */
export async function payOnce(
  { values, signal }: Context,
  send: (options: WriteOptions) => Promise<Payment>,
): Promise<Payment> {
  const idempotencyKey = textValue(values, 'idempotency-key') ?? randomUUID();
  try {
    const payment = await send({ idempotencyKey, signal });
    if (typeof payment.id === 'string') return payment;
    // An object of something in between says as little of the payment as no answer.
    const message = 'The server answered with something that is no payment: is the address right?';
    throw new ConnectionFailedError(message, { code: 'invalid_response' });
  } catch (cause) {
    if (signal.aborted || isUnanswered(cause)) throw new UnknownOutcomeError(cause, idempotencyKey);
    throw cause;
  }
}

function isUnanswered(cause: unknown): boolean {
  return cause instanceof ConnectionFailedError || (cause instanceof PaymentsError && cause.retryable);
}
