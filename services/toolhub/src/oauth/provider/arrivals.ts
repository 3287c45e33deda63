import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { Provider } from 'oidc-provider';

/** What the library's callbacks need to know about the request that they work for. */
export interface Arrival {
  at: Date;
  ip: string;
  requestId: string;
}

/** Requests that were handed to the library, for as long as they live. */
export class Arrivals {
  readonly #byRequest = new WeakMap<IncomingMessage, Arrival>();
  readonly #visitors = new AsyncLocalStorage<string>();

  note(request: IncomingMessage, arrival: Arrival): void {
    this.#byRequest.set(request, arrival);
  }

  of(request: IncomingMessage): Arrival | undefined {
    return this.#byRequest.get(request);
  }

  /** The request that the library works on in the current asynchronous context. */
  current(): Arrival | undefined {
    const request = Provider.ctx?.req;
    return request && this.of(request);
  }

  /** For what a page of ours asks the library, which sees no request then. */
  visit<Result>(ip: string, work: () => Promise<Result>): Promise<Result> {
    return this.#visitors.run(ip, work);
  }

  /** The network address that the library works for: of its own request, or of the visitor of a page. */
  address(): string | undefined {
    return this.current()?.ip ?? this.#visitors.getStore();
  }
}
