/**
 * Repeats that were read in one turn of the event loop are answered together at its end, as the payments of a batch are.
 * Answered one by one between the reads, each wakes a client that had just gone back to sleep: half as dear again.
 */
export function createTurnEnd(): (answer: () => void) => void {
  let waiting: (() => void)[] = [];
  const answerAll = () => {
    const answers = waiting;
    waiting = [];
    for (const answer of answers) answer();
  };
  return (answer) => {
    if (waiting.push(answer) === 1) setImmediate(answerAll);
  };
}
