// An event stream whose last event the server no longer takes: too old, or gone with a reset.
import { afterEach, expect, test } from 'vitest';
import { Payments } from '../src/index.ts';
import { type Answer, json, problem, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(...answers: [Answer, ...Answer[]]) {
  const server = await startScriptedServer(...answers);
  servers.push(server);
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

test('a stream that is given an event which the server never took ends with its refusal', async () => {
  const { client } = await serve(unknown);
  await expect(firstIds(client, 1, 'e7')).rejects.toMatchObject({ code: 'last_event_unknown' });
});
