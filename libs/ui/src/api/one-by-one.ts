import { ApiError } from './problem.ts';

/** Why some were not done, and how many of them. */
export interface Failure {
  error: unknown;
  count: number;
}

export interface Outcome {
  done: number;
  failures: readonly Failure[];
}

/**
 * Acts on one after the other, so that a receiver that has just come back is not run over. What the server refuses keeps
 * nothing from being tried; without an answer, and after what is no refusal, the rest is left.
 */
export async function oneByOne<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
): Promise<Outcome> {
  const failures = new Map<string, Failure>();
  let done = 0;
  for (const [index, item] of items.entries()) {
    try {
      await act(item);
      done += 1;
    } catch (error) {
      if (!(error instanceof ApiError))
        return { done, failures: [...failures.values(), { error, count: items.length - index }] };
      const { error: first, count } = failures.get(error.code) ?? { error, count: 0 };
      failures.set(error.code, { error: first, count: count + 1 });
    }
  }
  return { done, failures: [...failures.values()] };
}
