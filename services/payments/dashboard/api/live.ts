import { type StreamMessage, useEventStream } from '@libs/ui';
import { createContext, useState } from 'react';
import { client, refresh } from './client.ts';

/** What an event may have changed. The proof of the books is of a moment, and asked for by hand; deliveries are no events. */
const CHANGED_BY_EVENTS = [
  '/v1/payments',
  '/v1/payment_methods',
  '/v1/events',
  '/v1/ledger/accounts',
  '/v1/ledger/entries',
  '/v1/fees',
  '/v1/overview',
];
const ENDPOINTS_PATH = '/v1/webhook_endpoints';
/** However many payments are made, what shows them is read at most this often. */
const REFRESH_EVERY_MS = 1_000;

/** Whether what happens is heard of; the frame tells the pages. */
export const LineState = createContext<'connecting' | 'open'>('connecting');

/** Follows the organisation's events for as long as the dashboard is shown: every page changes as they happen, without a reload. */
export function useLive(): 'connecting' | 'open' {
  const [onChange] = useState(createRefresher);
  return useEventStream(client, '/v1/events/stream', {
    onBegin: () => void onChange(),
    onMessage: ({ event }: StreamMessage) => {
      void onChange();
      if (event.startsWith('webhook_endpoint.')) void refresh(ENDPOINTS_PATH);
    },
  });
}

/** Reads at once, and then no faster than the server answers: what changes meanwhile is read once more after it. */
function createRefresher(): () => Promise<void> {
  let isReading = false;
  let isBehind = false;
  return async () => {
    isBehind = true;
    if (isReading) return;
    isReading = true;
    while (isBehind) {
      isBehind = false;
      const pause = new Promise((resolve) => setTimeout(resolve, REFRESH_EVERY_MS));
      await refresh(...CHANGED_BY_EVENTS);
      await pause;
    }
    isReading = false;
  };
}
