import { hash, verify } from '@node-rs/argon2';
import { loginErrors } from './errors.ts';

/** argon2id with the parameters that OWASP names first: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Each check holds 19 MiB and a core; the rest of the service needs room beside them. */
const CONCURRENT_MAX = 2;
const WAITING_MAX = 500;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Without a stored hash the same work is done against a dummy, so that time does not tell who has an account. */
  verify(password: string, stored: string | undefined): Promise<boolean>;
}

export async function createPasswords(): Promise<Passwords> {
  const dummy = await hash('a password that nobody has', PARAMETERS);
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= CONCURRENT_MAX) {
      if (waiting.length >= WAITING_MAX) throw loginErrors.busy({ retryAfterSeconds: 1 });
      await new Promise<void>((resume) => waiting.push(resume));
    } else running += 1;
    try {
      return await work();
    } finally {
      // The place is handed on, so that nobody who comes later slips in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    hash: (password) => inTurn(() => hash(password, PARAMETERS)),
    async verify(password, stored) {
      const matches = await inTurn(() => verify(stored ?? dummy, password));
      return matches && stored !== undefined;
    },
  };
}
