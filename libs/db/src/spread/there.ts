import { isServerMissing } from '../connection/away.ts';
import type { Database } from '../database.ts';
import { awaitCommits } from './commits.ts';
import { CommitsUnsettled, sharedNext } from './settle.ts';

/*
 * Work that waits on the first server is for tenants whose rows lie on another one, which may be away, or not show yet what was
 * written there together with the work. Whoever takes work asks first, and leaves that of such a server where it is.
 */

/** A server that is there answers within milliseconds; what is for the others waits no longer than this for one that is not. */
const ANSWER_MS = 1_000;
/** One that is away is asked so often whether it is back, and nobody waits for its answer. */
const ASKED_AGAIN_MS = 500;

/** A server that is away, or slow to commit. */
export interface AwayServer {
  readonly error: Error;
  /** Resolves when it is there again. */
  readonly back: Promise<void>;
}

/** Where work for tenants may go on. */
export interface ServersThere {
  /** Of these tenants, the server of each. */
  readonly serverOf: ReadonlyMap<string, string>;
  readonly away: ReadonlyMap<string, AwayServer>;
}

/** All of them as one, which is there while each is: for work of which nobody knows whose it is. */
export const EVERY_SERVER = 'every';

/** One server, as this process last heard of it. */
class Server {
  readonly #db: Database;
  readonly #ask: () => Promise<void>;
  #away: (AwayServer & { readonly returns: () => void }) | undefined;

  constructor(db: Database, settle: () => Promise<void>) {
    this.#db = db;
    this.#ask = sharedNext(settle);
  }

  /** Nothing when it shows all that was committed before this was asked. */
  async findAway(): Promise<AwayServer | undefined> {
    if (this.#away !== undefined) return this.#away;
    const late = Promise.withResolvers<AwayServer>();
    const timer = setTimeout(() => {
      const error = new CommitsUnsettled(`a server of tenants did not answer within ${ANSWER_MS} ms`);
      late.resolve(this.#leave(error));
    }, ANSWER_MS);
    try {
      return await Promise.race([this.#hear(), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #hear(): Promise<AwayServer | undefined> {
    try {
      await this.#ask();
      return undefined;
    } catch (error) {
      if (error instanceof Error && this.#isMissing(error)) return this.#leave(error);
      throw error;
    }
  }

  #isMissing(error: unknown): boolean {
    return error instanceof CommitsUnsettled || isServerMissing(this.#db, error);
  }

  #leave(error: Error): AwayServer {
    if (this.#away === undefined) {
      const { promise: back, resolve: returns } = Promise.withResolvers<void>();
      this.#away = { error, back, returns };
      this.#askAgainSoon();
    }
    return this.#away;
  }

  #askAgainSoon(): void {
    const again = async () => {
      try {
        await this.#ask();
      } catch (error) {
        if (this.#isMissing(error)) return this.#askAgainSoon();
        // Something else is wrong, which whoever asks next hears.
      }
      this.#away?.returns();
      this.#away = undefined;
    };
    setTimeout(() => void again(), ASKED_AGAIN_MS).unref();
  }
}

const known = new WeakMap<Database, Map<string, Server>>();

function serverNamed(db: Database, name: string, settle: () => Promise<void>): Server {
  const servers = known.get(db) ?? new Map<string, Server>();
  known.set(db, servers);
  const server = servers.get(name) ?? new Server(db, settle);
  servers.set(name, server);
  return server;
}

/**
 * Which servers of these tenants are there, and show all that was committed before this was called. Nobody waits for the server of
 * others for longer than a moment, and only once: then that one is asked beside the work until it answers.
 */
export async function findServersThere(
  db: Database,
  tenantIds: Iterable<string>,
  { everyServer = false } = {},
): Promise<ServersThere> {
  const serverOf = new Map(
    await Promise.all(
      [...new Set(tenantIds)].map(async (id): Promise<[string, string]> => [id, await db.serverOf(id)]),
    ),
  );
  const settles = new Map([...serverOf].map(([tenantId, name]) => [name, () => db.settleTenant(tenantId)]));
  if (everyServer) settles.set(EVERY_SERVER, () => awaitCommits(db));
  const away = new Map<string, AwayServer>();
  await Promise.all(
    [...settles].map(async ([name, settle]) => {
      const missing = await serverNamed(db, name, settle).findAway();
      if (missing !== undefined) away.set(name, missing);
    }),
  );
  return { serverOf, away };
}
