/** What a script can tell from the exit code; the README lists them. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** No key, a wrong one, or one that may not do this. */
  refusedKey: 3,
  notFound: 4,
  unreachable: 5,
  /** The payment ended otherwise than was waited for. */
  unexpectedStatus: 6,
  timeout: 7,
  /** Not of `listen`, which ends in no other way: a script that ends it and waits for it has no failure. */
  interrupted: 130,
} as const;
