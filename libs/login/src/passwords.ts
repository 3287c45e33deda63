import { loginErrors } from './errors.ts';

/** argon2id with the parameters that OWASP names first: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** What no password is known for: a hash by these parameters with nothing but zeros in it, since to make a real one is the work of a log-in. */
const DUMMY = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
/** Each check holds 19 MiB and a core; the rest of the service needs room beside them. */
const CONCURRENT_MAX = 2;
const WAITING_MAX = 500;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Without a stored hash the same work is done against a dummy, so that time does not tell who has an account. */
  verify(password: string, stored: string | undefined): Promise<boolean>;
}

/** The library is loaded with the first password: workers never see one. */
async function hash(text: string): Promise<string> {
  const argon2 = await import('@node-rs/argon2');
  return argon2.hash(text, PARAMETERS);
}

async function verify(stored: string, text: string): Promise<boolean> {
  const argon2 = await import('@node-rs/argon2');
  return argon2.verify(stored, text);
}

export function createPasswords(): Passwords {
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
    hash: (password) => inTurn(() => hash(asOneText(password))),
    async verify(password, stored) {
      const isRight = await matches(password, stored ?? DUMMY);
      return isRight && stored !== undefined;
    },
  };
}

/** What looks the same is the same password: one keyboard sends an accent with its letter, another beside it (RFC 8265). */
function asOneText(password: string): string {
  return password.normalize('NFC');
}
