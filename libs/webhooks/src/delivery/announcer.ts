import { announce } from './announcement.ts';
import { type EndpointRef, laneKey } from './delivery.ts';

export interface AnnouncerOptions {
  readonly send: (message: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Tells other processes of rows that were committed here and are theirs to send; what waits together goes together. */
export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #untold = new Map<string, EndpointRef>();
  #telling: Promise<void> | undefined;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  tell(refs: readonly EndpointRef[]): void {
    for (const ref of refs) this.#untold.set(laneKey(ref), ref);
    if (this.#untold.size > 0) this.#telling ??= this.#run();
  }

  /** Resolves when all is told. */
  async idle(): Promise<void> {
    await this.#telling;
  }

  async #run(): Promise<void> {
    while (this.#untold.size > 0) {
      await new Promise<void>((resume) => setImmediate(resume));
      const messages = announce([...this.#untold.values()]);
      this.#untold.clear();
      try {
        for (const message of messages) await this.#options.send(message);
      } catch (error) {
        // The owners find the rows at their next poll.
        this.#options.onError(error);
      }
    }
    this.#telling = undefined;
  }
}
