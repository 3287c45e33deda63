import { randomUUID } from 'node:crypto';
import type { Database, Queryable } from '@libs/db';
import type { OwnerStore } from './owner-store.ts';
import type { Trouble } from './troubles.ts';

export interface IdentityOptions {
  readonly database: Database;
  readonly store: OwnerStore;
  readonly beatMs: number;
  /** Called whenever there is a new name, under which nothing is owned yet. */
  readonly onNamed: () => void;
  /** Called when the name is lost, and everything with it. */
  readonly onLost: () => void;
  readonly trouble: Trouble;
}

const RECONNECT_MS = 500;

/**
 * The name under which this process owns lanes. It lives as long as one session of the database: the session holds a
 * lock, so that others see the end of a killed process at once, and beats, so that they see the end of its machine.
 */
export class Identity {
  readonly #options: IdentityOptions;
  #owner: string | undefined;
  #isStopping = false;
  #wakeUp: (() => void) | undefined;
  #living: Promise<void> | undefined;

  constructor(options: IdentityOptions) {
    this.#options = options;
  }

  owner(): string | undefined {
    return this.#owner;
  }

  /** Resolves with the first name. */
  async start(): Promise<void> {
    await new Promise<void>((named, failed) => {
      this.#living = this.#live(named, failed);
    });
  }

  /** Gives everything back that the name owns. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wakeUp?.();
    await this.#living;
  }

  async #live(onFirst: () => void, onFirstFailure: (error: unknown) => void): Promise<void> {
    let isFirst = true;
    while (!this.#isStopping) {
      try {
        await this.#options.database.session(async (session) => {
          await this.#holdName(session, () => {
            if (isFirst) onFirst();
            isFirst = false;
          });
        });
      } catch (error) {
        if (isFirst) return onFirstFailure(error);
        this.#options.trouble.failed(error);
      }
      this.#lose();
      if (!this.#isStopping) await this.#sleep(RECONNECT_MS);
    }
  }

  #lose(): void {
    if (this.#owner === undefined) return;
    this.#owner = undefined;
    this.#options.onLost();
  }

  async #holdName(session: Queryable, onHeld: () => void): Promise<void> {
    const { store, beatMs, onNamed, trouble } = this.#options;
    const name = randomUUID();
    await store.register(session, name);
    this.#owner = name;
    trouble.worked();
    onHeld();
    onNamed();
    while (!this.#isStopping) {
      await this.#sleep(beatMs);
      // Others took this process for dead: it goes on under a new name.
      if (!(await store.beat(session, name))) break;
    }
    this.#lose();
    await store.unregister(session, name);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resume) => {
      const timer = setTimeout(resume, ms);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resume();
      };
    });
  }
}
