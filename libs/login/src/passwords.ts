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

  async function matches(password: string, stored: string): Promise<boolean> {
    const text = asOneText(password);
    if (await inTurn(() => verify(stored, text))) return true;
    // As it came: hashes of earlier versions are of that.
    return text !== password && (await inTurn(() => verify(stored, password)));
  }

  return {
    hash: (password) => inTurn(() => hash(asOneText(password), PARAMETERS)),
    async verify(password, stored) {
      const isRight = await matches(password, stored ?? dummy);
      return isRight && stored !== undefined;
    },
  };
}

/** What looks the same is the same password: one keyboard sends an accent with its letter, another beside it (RFC 8265). */
function asOneText(password: string): string {
  return password.normalize('NFC');
}
