import { untilSilent } from './body-stream.ts';
import { eventsSince } from './catch-up.ts';
import { checkOptions } from './config.ts';
import { ConnectionFailedError, PaymentsError } from './errors.ts';
import type { Event } from './event-types.ts';
import type { List } from './pagination.ts';
import { type HttpClient, type OpenAnswer, sleep } from './request.ts';
import { askedMs, backoffMs } from './retry.ts';

const LINE_LENGTH_MAX = 4 * 1024 * 1024;
/** Ids of events that were given out already, so that a server that repeats some on resuming doubles none. */
const IDS_REMEMBERED_MAX = 10_000;

export interface StreamOptions {
  /** Go on after this event; from now on where it is absent, and with everything that is kept where it is empty. */
  lastEventId?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Told whenever the connection is lost, before it is made again. */
  onReconnect?: ((error: PaymentsError, delayMs: number) => void) | undefined;
  /** Told whenever the connection stands. */
  onConnect?: ((response: { date: string | undefined }) => void) | undefined;
}

const optionNames = [
  'lastEventId',
  'signal',
  'onReconnect',
  'onConnect',
] as const satisfies readonly (keyof StreamOptions)[];

/** One block of a server-sent event stream. */
export interface ServerSentEvent {
  id: string | undefined;
  data: string | undefined;
}

/** Reads the format of server-sent events; comments are given out as blocks without anything, as signs of life. */
export async function* readServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let id: string | undefined;
  let data: string[] = [];
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the very end may be the first half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() as string;
    if (rest.length > LINE_LENGTH_MAX) {
      throw new ConnectionFailedError('A line of the event stream is too long.', {
        code: 'invalid_response',
      });
    }
    for (const line of lines) {
      if (line === '') {
        if (id !== undefined || data.length > 0) {
          yield { id, data: data.length === 0 ? undefined : data.join('\n') };
        }
        id = undefined;
        data = [];
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line) as unknown as [string, string, string];
      if (field === 'id' && !value.includes('\0')) id = value;
      else if (field === 'data') data.push(value);
      else if (field === '') yield { id: undefined, data: undefined };
    }
  }
}

/** The organisation's events as they happen. A lost connection is made again and goes on after the last event. */
export async function* streamEvents(
  http: HttpClient,
  newest: () => List<Event>,
  options: StreamOptions,
): AsyncGenerator<Event, void, undefined> {
  checkOptions(options, optionNames);
  const { signal } = options;
  const isNew = createMemory();
  let lastId = options.lastEventId || undefined;
  /** After which event to look, where the server cannot go on after one: the newest of the beginning, or the last that was heard; null for none. */
  let before: string | null | undefined = options.lastEventId === undefined ? undefined : null;
  let hasConnected = false;
  let failures = 0;
  while (true) {
    signal?.throwIfAborted();
    let answer: OpenAnswer | undefined;
    try {
      if (lastId === undefined && before === undefined) before = (await newest().page()).data[0]?.id ?? null;
      answer = await open(http, lastId, signal);
      const { response } = answer;
      checkType(response);
      hasConnected = true;
      options.onConnect?.({ date: response.headers.get('date') ?? undefined });
      if (lastId === undefined) {
        // There is nothing that the server could go on after: what happened meanwhile is looked up, in case a first connection broke before it said a word.
        for await (const event of eventsSince(newest(), before ?? null)) {
          lastId = event.id;
          if (isNew(event.id)) yield event;
        }
      }
      for await (const block of readServerSentEvents(untilSilent(response, 'The stream was cut.'))) {
        failures = 0;
        if (block.data !== undefined) {
          const event = parseEvent(block.data);
          lastId = block.id ?? event.id;
          if (isNew(event.id)) yield event;
        } else if (block.id !== undefined) lastId = block.id;
      }
      throw new ConnectionFailedError('The server ended the stream.', {
        code: 'connection_failed',
        retryable: true,
      });
    } catch (error) {
      signal?.throwIfAborted();
      // A mistake in the call, or of a hook: it would be made again at each connection.
      if (!(error instanceof PaymentsError)) throw error;
      if (error.code === 'last_event_unknown' && hasConnected && lastId !== undefined) {
        // It has become too old, and the list still ends at it; or the sandbox was reset, and all that is listed is new.
        before = lastId;
        lastId = undefined;
      } else if (!error.retryable) throw error;
      const delayMs = Math.max(backoffMs(failures, Math.random), askedMs(error.retry_after));
      failures += 1;
      options.onReconnect?.(error, delayMs);
      await sleep(delayMs, signal);
    } finally {
      await answer?.close();
    }
  }
}

function open(http: HttpClient, lastId: string | undefined, signal?: AbortSignal): Promise<OpenAnswer> {
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
  const options = { maxRetries: 0, signal, headers };
  return http.open({ method: 'GET', path: '/v1/events/stream', options }, 'text/event-stream');
}

function checkType(response: Response): void {
  const type = response.headers.get('content-type') ?? 'no content type';
  if (type.startsWith('text/event-stream')) return;
  throw new ConnectionFailedError(
    `The server answered with ${type} instead of an event stream: is the address right?`,
    {
      code: 'invalid_response',
      status: response.status,
    },
  );
}

/** The first time an id is met. */
function createMemory(): (id: string) => boolean {
  const ids = new Set<string>();
  return (id) => {
    if (ids.has(id)) return false;
    ids.add(id);
    if (ids.size > IDS_REMEMBERED_MAX) ids.delete(ids.values().next().value as string);
    return true;
  };
}

function parseEvent(data: string): Event {
  let event: Event | null;
  try {
    event = JSON.parse(data) as Event | null;
  } catch {
    throw new ConnectionFailedError('An event of the stream is not JSON.', { code: 'invalid_response' });
  }
  if (typeof event?.id === 'string') return event;
  throw new ConnectionFailedError('An event of the stream has no id.', { code: 'invalid_response' });
}
