import { type ListPage, type StreamMessage, useEventStream } from '@libs/ui';
import { useRef } from 'react';
import { client, queryClient, refresh } from '../api/client.ts';
import type { Payment } from '../api/types.ts';

const LIST_PATH = '/v1/payments';
/** However many payments are made, their list is read at most this often. */
const REFRESH_EVERY_MS = 1_000;

interface PaymentEvent {
  type: string;
  data: Payment;
}

/** Follows payments while the page is shown: what is on it changes as it happens, without a reload. */
export function useLivePayments(): 'connecting' | 'open' {
  const planned = useRef(false);
  const onMessage = (message: StreamMessage) => {
    if (!message.event.startsWith('payment.')) return;
    const { data: payment } = JSON.parse(message.data) as PaymentEvent;
    const isShown = putIntoLists(payment);
    queryClient.setQueryData([`${LIST_PATH}/${payment.id}`, {}], (known: Payment | undefined) =>
      known === undefined ? undefined : payment,
    );
    void refresh(`${LIST_PATH}/${payment.id}/`, '/v1/ledger/entries', '/v1/events');
    if (isShown || planned.current) return;
    planned.current = true;
    setTimeout(() => {
      planned.current = false;
      void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === LIST_PATH });
    }, REFRESH_EVERY_MS);
  };
  return useEventStream(client, '/v1/events/stream', onMessage);
}

/** The rows that show this payment get its new state. Answers whether there were any. */
function putIntoLists(payment: Payment): boolean {
  let isShown = false;
  queryClient.setQueriesData<ListPage<Payment>>(
    { predicate: ({ queryKey }) => queryKey[0] === LIST_PATH },
    (page) => {
      if (page === undefined || !page.data.some(({ id }) => id === payment.id)) return page;
      isShown = true;
      return { ...page, data: page.data.map((row) => (row.id === payment.id ? payment : row)) };
    },
  );
  return isShown;
}
