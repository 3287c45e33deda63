import { notifications } from '@mantine/notifications';
import type { Outcome } from '../api/one-by-one.ts';
import { ApiError, ConnectionLost, DeviceRefused } from '../api/problem.ts';
import { texts } from '../texts.ts';

const SHOWN_MS = 5_000;
const closeButtonProps = { 'aria-label': texts.closeMessage };

export interface OutcomeWords {
  all: (done: number) => string;
  some: (done: number, failed: number) => string;
}

export const toast = {
  done(message: string): void {
    notifications.show({ message, color: 'brand', closeButtonProps, autoClose: SHOWN_MS });
  },
  /** For what has no field to stand at. */
  problem(error: unknown, lostWords: string = texts.notSent): void {
    const [title, message] = wordsOf(error, lostWords);
    show(title, message);
  },
  failed: show,
  /** Of many that were tried: how many were done, and how many were not, and why. */
  outcome({ done, failures }: Outcome, words: OutcomeWords): void {
    const failed = failures.reduce((sum, { count }) => sum + count, 0);
    if (failed === 0) {
      toast.done(words.all(done));
      return;
    }
    const reasons = failures.map(({ error, count }) => [count, wordsOf(error, texts.notSent)[1]] as const);
    const isOne = reasons.length === 1;
    const message = reasons.map(([count, reason]) => (isOne ? reason : `${count}: ${reason}`)).join(' ');
    show(words.some(done, failed), message);
  },
};

function show(title: string, message: string): void {
  notifications.show({ title, message, color: 'red', closeButtonProps, autoClose: 2 * SHOWN_MS });
}

function wordsOf(error: unknown, lostWords: string): [string, string] {
  if (error instanceof ApiError) return [error.title, error.message];
  if (error instanceof ConnectionLost) return [texts.formProblem, lostWords];
  if (error instanceof DeviceRefused) return [texts.formProblem, error.message];
  return [texts.unexpected, texts.unexpectedNext];
}
