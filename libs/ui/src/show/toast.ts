import { notifications } from '@mantine/notifications';
import { ApiError, ConnectionLost } from '../api/problem.ts';
import { texts } from '../texts.ts';

const SHOWN_MS = 5_000;
const closeButtonProps = { 'aria-label': texts.closeMessage };

export const toast = {
  done(message: string): void {
    notifications.show({ message, color: 'brand', closeButtonProps, autoClose: SHOWN_MS });
  },
  /** For what has no field to stand at. */
  problem(error: unknown): void {
    const [title, message] = wordsOf(error);
    notifications.show({ title, message, color: 'red', closeButtonProps, autoClose: 2 * SHOWN_MS });
  },
};

function wordsOf(error: unknown): [string, string] {
  if (error instanceof ApiError) return [error.title, error.message];
  if (error instanceof ConnectionLost) return [texts.formProblem, texts.notSent];
  return [texts.unexpected, texts.unexpectedNext];
}
