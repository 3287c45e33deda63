/** A page of a list may ask for forty names: asked for all at once, they would use up what a person may ask for in a second. */
const PAUSE_MS = 50;

let last: Promise<unknown> = Promise.resolve();

/** Begins when all that were asked for before have ended, whatever became of them. */
export function inTurn<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const mine = last.then(ask);
  last = mine.catch(() => undefined).then(() => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)));
  return mine;
}
