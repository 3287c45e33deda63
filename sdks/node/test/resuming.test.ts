// An event stream whose last event the server no longer takes: too old, or gone with a reset.
import { expect, test } from 'vitest';
import { ConnectionFailedError, InvalidRequestError, Payments } from '../src/index.ts';
import { type Answer, json, problem, type ScriptedServer, scriptedServer } from './scripted-server.ts';

async function serve(...answers: [Answer, ...Answer[]]) {
  const server = await scriptedServer(...answers);
  return { server, client: new Payments({ apiKey: 'sk_test_x', baseUrl: server.url }) };
}

const unknown = problem(404, 'last_event_unknown');
const listing = (...ids: string[]) =>
  json(200, { object: 'list', data: ids.map((id) => ({ id })), next_cursor: null });

/** A sign of life and these events, and the connection ends. */
const stream =
  (...ids: string[]): Answer =>
  (_request, response) => {
    const blocks = ids.map((id) => `id: ${id}\ndata: ${JSON.stringify({ id })}\n\n`);
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end([': heartbeat\n\n', ...blocks].join(''));
  };

async function firstIds(client: Payments, count: number, lastEventId?: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of client.events.stream({ lastEventId })) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return ids;
}

const asked = (server: ScriptedServer) =>
  server.seen.filter(({ path }) => path.endsWith('/stream')).map(({ headers }) => headers['last-event-id']);

test('a stream whose last event has become too old goes on right after it, without what was before', async () => {
  const first = [listing('e0'), stream('e1'), listing('e1', 'e0')] as const;
  const { client, server } = await serve(
    ...first,
    unknown,
    stream('e3'),
    listing('e2', 'e1', 'e0', 'd9'),
    stream('e3'),
  );
  expect(await firstIds(client, 3)).toEqual(['e1', 'e2', 'e3']);
  expect(asked(server)).toEqual([undefined, 'e1', undefined]);
});

test('a stream that has heard nothing since the event it was given goes on after it', async () => {
  const { client, server } = await serve(
    stream(),
    unknown,
    stream(),
    listing('e7', 'e6'),
    stream(),
    listing('e8', 'e7', 'e6'),
  );
  expect(await firstIds(client, 1, 'e7')).toEqual(['e8']);
  expect(asked(server)).toEqual(['e7', 'e7', undefined, undefined]);
});

test('a stream goes on with all that is new after a reset', async () => {
  const { client } = await serve(
    listing(),
    stream('e1'),
    listing('e1'),
    unknown,
    stream('f3'),
    listing('f2', 'f1'),
  );
  expect(await firstIds(client, 4)).toEqual(['e1', 'f1', 'f2', 'f3']);
});

/** Lists `count` events, e1 being the oldest, by pages of a hundred; its stream says nothing. */
const long =
  (count: number): Answer =>
  (request, response) => {
    if (request.path.endsWith('/stream')) return stream()(request, response);
    const from = Number(new URL(request.path, 'http://x').searchParams.get('cursor') ?? count);
    const data = Array.from({ length: Math.min(100, from) }, (_, at) => ({ id: `e${from - at}` }));
    const next_cursor = from > 100 ? String(from - 100) : null;
    return json(200, { object: 'list', data, next_cursor })(request, response);
  };

test.each<[string, string, number, [Answer, ...Answer[]]]>([
  ['the event that it was given, which became too old', 'e50', 51, [stream(), unknown]],
  ['the beginning of all that is kept', '', 1, [stream()]],
])('a stream leaves nothing out after %s, however much there is', async (_, lastEventId, first, answers) => {
  const { client } = await serve(...answers, long(1_250));
  const expected = Array.from({ length: 1_251 - first }, (_, at) => `e${first + at}`);
  expect(await firstIds(client, expected.length, lastEventId)).toEqual(expected);
});

test('a stream with more to catch up with than it takes says so instead of leaving something out', async () => {
  const { client } = await serve(stream(), unknown, long(1_000_000));
  const failed = firstIds(client, 1, 'e1');
  await expect(failed).rejects.toBeInstanceOf(InvalidRequestError);
  await expect(failed).rejects.toMatchObject({ code: 'last_event_unknown', retryable: false });
  await expect(failed).rejects.toThrow('More than 100000 events came after e1');
});

test('a stream that is given an event which the server never took ends with its refusal', async () => {
  const { client } = await serve(unknown);
  await expect(firstIds(client, 1, 'e7')).rejects.toMatchObject({ code: 'last_event_unknown' });
});

/** Stays open, as a stream does; tells when whoever reads it has hung up. */
function openStream(): [Answer, Promise<void>] {
  let tell: () => void;
  const left = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const answer: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
    response.once('close', tell);
  };
  return [answer, left];
}

test('an event to go on after that no header can carry is a mistake in the call, and no cut line', async () => {
  const { client, server } = await serve(stream('e1'));
  await expect(firstIds(client, 1, 'evt_1\n')).rejects.toThrow(TypeError);
  expect(server.seen).toEqual([]);
});

test.each(['onRequest', 'onResponse', 'onConnect'] as const)(
  'what %s throws ends the stream and its connection, and is no cut line',
  async (hook) => {
    const [answer, left] = openStream();
    const { client, server } = await serve(answer);
    const mistake = new RangeError('a mistake of the caller');
    const fail = () => {
      throw mistake;
    };
    const events =
      hook === 'onConnect'
        ? client.events.stream({ lastEventId: 'e1', onConnect: fail })
        : client.withOptions({ [hook]: fail }).events.stream({ lastEventId: 'e1' });
    await expect(events.next()).rejects.toBe(mistake);
    if (hook !== 'onRequest') await left;
    expect(server.seen).toHaveLength(hook === 'onRequest' ? 0 : 1);
  },
);

test('a line that is cut is told of as one, and made again', async () => {
  const cut: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': here\n\n', () => response.destroy());
  };
  const { client } = await serve(cut, stream('e2'));
  const told: unknown[] = [];
  const events = client.events.stream({ lastEventId: 'e1', onReconnect: (error) => told.push(error) });
  expect((await events.next()).value).toEqual({ id: 'e2' });
  await events.return();
  expect(told[0]).toBeInstanceOf(ConnectionFailedError);
  expect(told[0]).toMatchObject({ message: 'The stream was cut.', retryable: true });
});

test.each(['nonsense', 'null', '[]', '"text"', '{}'])('%s is no event, and ends the stream', async (data) => {
  const { client, server } = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${data}\n\n`);
  });
  await expect(firstIds(client, 1, 'e1')).rejects.toMatchObject({ code: 'invalid_response' });
  expect(server.seen).toHaveLength(1);
});
