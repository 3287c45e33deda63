import { connection } from '../api/connection.ts';
import { keepIn, roomOfWindow } from './room.ts';

const RELOADED = 'reloaded-for-a-missing-part';
const RELOADED_WITHIN_MS = 10_000;

let recovery: Promise<never> | undefined;

/**
 * A part of the program could not be loaded: there is no connection, or a new build took the place of the one that this page
 * came from. Either way the page begins anew as soon as the server answers, and not in a circle.
 */
export function recoverMissingParts(): void {
  window.addEventListener('vite:preloadError', (event) => {
    event.preventDefault();
    recovery ??= reloadWhenAnswered();
    recovery.catch(() => {
      recovery = undefined;
    });
  });
}

/** For parts that are loaded when they are needed: one that is missing leaves the page as it is until it begins anew. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  const part = (await load()) as Part | undefined;
  if (part !== undefined) return part;
  return recovery ?? Promise.reject(new Error('A part of the program is missing.'));
}

/** Ends only where loading the page again has just not helped: then the page says that it is broken. */
async function reloadWhenAnswered(): Promise<never> {
  connection.reportLost();
  await connection.back();
  const room = roomOfWindow();
  const lastMs = Number(room?.getItem(RELOADED) ?? 0);
  if (Date.now() - lastMs < RELOADED_WITHIN_MS) throw new Error('A part of the program is missing.');
  keepIn(room, RELOADED, String(Date.now()));
  window.location.reload();
  return new Promise<never>(() => {});
}
