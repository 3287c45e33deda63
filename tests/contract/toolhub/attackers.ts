// What hostile callers do, in a thread of their own, so that sending it does not delay whoever measures.
import { workerData } from 'node:worker_threads';

interface Attack {
  url: string;
  token: string;
  kind: 'many_values' | 'deep' | 'one_long_text' | 'authorize' | 'register' | 'forms' | 'webhook_tests';
  untilMs: number;
}

const { url, token, kind, untilMs } = workerData as Attack;
const MEBIBYTE = 1024 * 1024;
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const authorized = { ...json, authorization: `Bearer ${token}` };

const message = (value: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"accounts_list","arguments":{"x":${value}}}}`;
const bodies = {
  many_values: message(`{${Array.from({ length: 1_200_000 }, (_, n) => `"${n.toString(36)}":1`).join(',')}}`),
  deep: message('['.repeat(8 * MEBIBYTE)),
  one_long_text: message(`"${'x'.repeat(12 * MEBIBYTE)}"`),
};

const post = (path: string, body: string, headers: Record<string, string>) =>
  fetch(`${url}${path}`, { method: 'POST', body, headers, redirect: 'manual' });

const attacks: Record<Attack['kind'], () => Promise<Response>> = {
  many_values: () => post('/mcp', bodies.many_values, authorized),
  deep: () => post('/mcp', bodies.deep, authorized),
  one_long_text: () => post('/mcp', bodies.one_long_text, authorized),
  authorize: () =>
    fetch(`${url}/oauth/authorize?client_id=x&state=${'s'.repeat(5_000)}&scope=${'a%20'.repeat(200)}`, {
      redirect: 'manual',
    }),
  register: () =>
    post(
      '/oauth/register',
      JSON.stringify({
        redirect_uris: Array.from({ length: 500 }, (_, n) => `https://x.example/${n}`),
        client_name: 'n'.repeat(20_000),
      }),
      json,
    ),
  forms: () =>
    post('/oauth/token', Array.from({ length: 5_000 }, (_, n) => `p${n}=1`).join('&'), {
      'content-type': 'application/x-www-form-urlencoded',
    }),
  webhook_tests: () => post('/api/webhooks/test', '', authorized),
};

while (Date.now() < untilMs) {
  // Refusals may come while the body is still being sent; that ends the connection, and is an answer, too.
  await attacks[kind]().then(
    (answer) => answer.arrayBuffer(),
    () => undefined,
  );
}
