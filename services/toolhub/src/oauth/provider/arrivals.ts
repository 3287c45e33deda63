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
}
