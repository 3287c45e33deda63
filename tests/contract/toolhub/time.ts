/** Real time with an offset that tests move. */
export interface TestTime {
  now(): Date;
  advance(milliseconds: number): void;
}

export function createTime(): TestTime {
  let offsetMs = 0;
  return {
    now: () => new Date(Date.now() + offsetMs),
    advance(milliseconds) {
      offsetMs += milliseconds;
    },
  };
}
