/** Runs it and lets the refusals through that belong to it. */
export function expecting<T>(refusal: new (...args: never[]) => Error, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof refusal)) throw error;
    return undefined;
  }
}
