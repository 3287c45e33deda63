// `payments events resend` with several endpoints, of which one does not take the event.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { run } from '../src/cli/run.ts';
import { type Answer, json, problem, scriptedServer } from './scripted-server.ts';

async function resend(answers: Answer[], ...options: string[]) {
  const server = await scriptedServer(json(200, { id: 'evt_1' }), ...answers);
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(['events', 'resend', 'evt_1', ...options], {
    env: { PAYMENTS_API_KEY: 'sk_test_x', PAYMENTS_API_URL: server.url },
    stdin: Readable.from([]) as unknown as NodeJS.ReadStream,
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    signal: new AbortController().signal,
  });
  return { code, out, err };
}

const list = (...data: unknown[]) => json(200, { object: 'list', data, next_cursor: null });
const off = { id: 'we_off', status: 'disabled' };
const on = { id: 'we_on', status: 'enabled' };

test('an event is sent again to every endpoint that got it but those that are disabled', async () => {
  const sent = json(202, { id: 'del_2', endpoint_id: 'we_on' });
  expect(await resend([list(off, on), list({ id: 'del_1' }), list({ id: 'del_2' }), sent])).toEqual({
    code: 0,
    out: ['evt_1 → we_on: on its way (del_2)'],
    err: ['evt_1 → we_off: skipped, since the endpoint is disabled'],
  });
});

test('an endpoint that is disabled and never got the event is no matter', async () => {
  expect(await resend([list(off), list()])).toEqual({
    code: 4,
    out: [],
    err: ['No webhook endpoint got evt_1: name a local address with --forward-to.'],
  });
});

test('where every endpoint that got the event is disabled, nothing is sent and the exit code says so', async () => {
  expect(await resend([list(off), list({ id: 'del_1' })])).toEqual({
    code: 1,
    out: [],
    err: [
      'evt_1 → we_off: skipped, since the endpoint is disabled',
      'Every webhook endpoint that got evt_1 is disabled: enable one, or name a local address with --forward-to.',
    ],
  });
});

test('an endpoint that is named and disabled is refused by the server', async () => {
  const answers = [list({ id: 'del_1' }), problem(409, 'state_conflict')];
  expect(await resend(answers, '--endpoint', 'we_off')).toMatchObject({ code: 1, out: [] });
});

test('what was sent is shown also where a later endpoint refuses', async () => {
  const delivery = { id: 'del_1', endpoint_id: 'we_on' };
  const refused = [list({ id: 'del_2' }), problem(409, 'state_conflict')];
  const answers = [
    list(on, { id: 'we_2', status: 'enabled' }),
    list({ id: 'del_1' }),
    json(202, delivery),
    ...refused,
  ];
  expect(await resend(answers)).toMatchObject({ code: 1, out: ['evt_1 → we_on: on its way (del_1)'] });
  const { code, out } = await resend(answers, '--json');
  expect([code, JSON.parse(out.join(''))]).toEqual([1, [delivery]]);
});
