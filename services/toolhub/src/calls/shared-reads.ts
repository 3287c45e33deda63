/**
 * Reads that many ask for at the same time, done once. A caller never gets a read that began before it asked: those
 * that come while one is under way share the next one. What a caller sees is therefore as fresh as a read of its own.
 */
export function shareReads<Result>(): (key: string, read: () => Promise<Result>) => Promise<Result> {
  const running = new Map<string, { current: Promise<unknown>; next: Promise<Result> | undefined }>();

  function start(key: string, read: () => Promise<Result>): Promise<Result> {
    const result = read();
    const entry = { current: result, next: undefined };
    running.set(key, entry);
    const done = () => {
      if (running.get(key) === entry && entry.next === undefined) running.delete(key);
    };
    result.then(done, done);
    return result;
  }

  return (key, read) => {
    const entry = running.get(key);
    if (entry === undefined) return start(key, read);
    entry.next ??= entry.current.then(
      () => start(key, read),
      () => start(key, read),
    );
    return entry.next;
  };
}
