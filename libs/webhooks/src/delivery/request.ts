import type { PostRequest } from '@libs/egress';
import { nextTraceparent, type Trace } from '@libs/runtime';
import { createKeyCache, signMessage } from '../signing.ts';
import type { EndpointTarget } from './delivery.ts';

const CACHED_URLS_MAX = 4_096;

interface Place {
  readonly origin: string;
  readonly path: string;
}

function createPlaceCache(): (url: string) => Place {
  const places = new Map<string, Place>();
  return (url) => {
    const known = places.get(url);
    if (known !== undefined) return known;
    const { origin, pathname, search } = new URL(url);
    const place = { origin, path: pathname + search };
    if (places.size >= CACHED_URLS_MAX) places.clear();
    places.set(url, place);
    return place;
  };
}

export type BuildRequest = (
  target: EndpointTarget,
  event: { id: string; body: string; trace?: Trace | undefined },
  at: Date,
) => PostRequest;

/** Turns an event into a signed request; the id of the event is the same at each try, the time and signature are not. */
export function createRequestBuilder(userAgent: string): BuildRequest {
  const keyOf = createKeyCache();
  const placeOf = createPlaceCache();
  return (target, event, at) => {
    const timestampSeconds = Math.floor(at.getTime() / 1000);
    // Bytes are made once for the signatures and for what is sent.
    const body = Buffer.from(event.body);
    const message = { id: event.id, timestampSeconds, body };
    const { origin, path } = placeOf(target.url);
    return {
      ...{ origin, path, body },
      headers: [
        'content-type',
        'application/json',
        'user-agent',
        userAgent,
        'webhook-id',
        event.id,
        'webhook-timestamp',
        String(timestampSeconds),
        'webhook-signature',
        signMessage(message, target.secrets.map(keyOf)),
        ...(event.trace === undefined ? [] : ['traceparent', nextTraceparent(event.trace)]),
      ],
    };
  };
}
