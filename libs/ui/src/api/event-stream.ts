import { useEffect, useRef, useState } from 'react';
import type { Client } from './client.ts';
import { ApiError } from './problem.ts';

export interface StreamMessage {
  id: string;
  event: string;
  data: string;
}

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;
const MESSAGE_LENGTH_MAX = 1_000_000;
/** Three times as long as the server is ever silent: a line that broke without a word looks like a quiet one. */
const SILENCE_MS_MAX = 45_000;

export interface StreamListener {
  onMessage: (message: StreamMessage) => void;
  /** The line begins with what happens from now on: what was read before it may have changed unheard. */
  onBegin: () => void;
}

/** Reads server-sent events by `fetch`, since the browser's own reader cannot send headers. */
async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onSound: () => void,
): AsyncGenerator<StreamMessage> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onSound();
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
  listener: StreamListener,
): 'connecting' | 'open' {
  const [state, setState] = useState<'connecting' | 'open'>('connecting');
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => {
    const ending = new AbortController();
    void follow(client, path, ending.signal, {
      onState: setState,
      onMessage: (message) => current.current.onMessage(message),
      onBegin: () => current.current.onBegin(),
    });
    return () => ending.abort();
  }, [client, path]);
  return state;
}

async function follow(
  client: Client,
  path: string,
  signal: AbortSignal,
  on: StreamListener & { onState: (state: 'connecting' | 'open') => void },
): Promise<void> {
  let lastId = '';
  let waitMs = RETRY_MS_MIN;
  while (!signal.aborted) {
    await becomesVisible(signal);
    const hanging = new AbortController();
    const onChange = () => document.hidden && hanging.abort();
    document.addEventListener('visibilitychange', onChange);
    let silence: ReturnType<typeof setTimeout> | undefined;
    const onSound = () => {
      clearTimeout(silence);
      silence = setTimeout(() => hanging.abort(), SILENCE_MS_MAX);
    };
    try {
      const headers: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
      const response = await client.open(path, {
        signal: AbortSignal.any([signal, hanging.signal]),
        headers,
      });
      onSound();
      on.onState('open');
      waitMs = RETRY_MS_MIN;
      if (lastId === '') on.onBegin();
      const body = response.body as ReadableStream<Uint8Array<ArrayBuffer>>;
      for await (const message of readEvents(body, onSound)) {
        if (message.id !== '') lastId = message.id;
        on.onMessage(message);
      }
    } catch (error) {
      // The line broke, or the server refused: both are tried again, ever more slowly.
      waitMs = Math.min(waitMs * 2, RETRY_MS_MAX);
      // It may no longer know the last event, and would refuse it for ever: the next line begins anew.
      if (error instanceof ApiError) lastId = '';
    } finally {
      clearTimeout(silence);
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
