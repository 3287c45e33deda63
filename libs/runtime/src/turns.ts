const waiting: (() => void)[] = [];
let isScheduled = false;

/**
 * For long work that goes in slices: resolves when the next slice may run. One slice runs in each turn of the event loop,
 * of all the work that waits here, so that whatever else the process does has every turn but a slice of it. There is one
 * event loop, so there is one queue.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(runOne);
}

function runOne(): void {
  isScheduled = false;
  waiting.shift()?.();
  if (waiting.length > 0) schedule();
}
