import { useEffect, useRef, useState } from 'react';
import type { Client } from './client.ts';

export interface StreamMessage {
  id: string;
  event: string;
  data: string;
}

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;
const MESSAGE_LENGTH_MAX = 1_000_000;

/** Reads server-sent events by `fetch`, since the browser's own reader cannot send headers. */
async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamMessage> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    if (rest.length > MESSAGE_LENGTH_MAX) throw new Error('a message of the stream is too long');
    const parts = rest.split(/\r?\n\r?\n/);
    rest = parts.pop() as string;
    for (const part of parts) {
      const message = parseMessage(part);
      if (message !== undefined) yield message;
    }
  }
}

function parseMessage(text: string): StreamMessage | undefined {
  const message = { id: '', event: 'message', data: '' };
  const data: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ''] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'id' || name === 'event') message[name] = value;
  }
  return data.length === 0 ? undefined : { ...message, data: data.join('\n') };
}

/** Hears of events while the page is open, and goes on after the last one that was heard when the line broke. */
export function useEventStream(
  client: Client,
  path: string,
  onMessage: (message: StreamMessage) => void,
): 'connecting' | 'open' {
  const [state, setState] = useState<'connecting' | 'open'>('connecting');
  const handler = useRef(onMessage);
  handler.current = onMessage;
  useEffect(() => {
    const ending = new AbortController();
    void follow(client, path, ending.signal, {
      onState: setState,
      onMessage: (message) => handler.current(message),
    });
    return () => ending.abort();
  }, [client, path]);
  return state;
}

async function follow(
  client: Client,
  path: string,
  signal: AbortSignal,
  on: { onState: (state: 'connecting' | 'open') => void; onMessage: (message: StreamMessage) => void },
): Promise<void> {
  let lastId = '';
  let waitMs = RETRY_MS_MIN;
  while (!signal.aborted) {
    await becomesVisible(signal);
    const hidden = new AbortController();
    const onChange = () => document.hidden && hidden.abort();
    document.addEventListener('visibilitychange', onChange);
    try {
      const headers: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
      const response = await client.open(path, { signal: AbortSignal.any([signal, hidden.signal]), headers });
      on.onState('open');
      waitMs = RETRY_MS_MIN;
      for await (const message of readEvents(response.body as ReadableStream<Uint8Array<ArrayBuffer>>)) {
        if (message.id !== '') lastId = message.id;
        on.onMessage(message);
      }
    } catch {
      // The line broke, or the server refused: both are tried again, ever more slowly.
      waitMs = Math.min(waitMs * 2, RETRY_MS_MAX);
    } finally {
      document.removeEventListener('visibilitychange', onChange);
    }
    if (signal.aborted) return;
    on.onState('connecting');
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** A browser has six connections to one address for all its tabs: one that nobody looks at takes none of them. */
async function becomesVisible(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted) {
    await new Promise<void>((resolve) => {
      document.addEventListener('visibilitychange', () => resolve(), { once: true });
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
