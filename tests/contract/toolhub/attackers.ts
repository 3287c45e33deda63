// What hostile callers do, in a thread of their own, so that sending it does not delay whoever measures.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import type { AttackKind } from './attack-kinds.ts';

const { url, token, kind } = workerData as { url: string; token: string; kind: AttackKind };
const MEBIBYTE = 1024 * 1024;
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const authorized = { ...json, authorization: `Bearer ${token}` };

const toolCall = (name: string, args: string, meta = '') =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}${meta}}}`;
const message = (value: string) => toolCall('accounts_list', `{"x":${value}}`);
/** A call that fits its schema, so that everything is done with it that is done before a platform is asked. */
const mail = (text: string, meta = '') =>
  toolCall(
    'email_send_message',
    `{"to":["x@example.com"],"subject":"s","text":"t","idempotency_key":"k","attachments":[{"filename":"f","content_type":"text/plain","content_base64":"${text}"}]}`,
    meta,
  );
const badKeys = (count: number) => Array.from({ length: count }, (_, n) => `"${n}\\u0000":1`).join(',');
const bodies: Partial<Record<AttackKind, () => string>> = {
  many_values: () =>
    message(`{${Array.from({ length: 1_200_000 }, (_, n) => `"${n.toString(36)}":1`).join(',')}}`),
  deep: () => message('['.repeat(8 * MEBIBYTE)),
  one_long_text: () => message(`"${'x'.repeat(12 * MEBIBYTE)}"`),
  escapes: () => message(`"${'\\n'.repeat(7.9 * MEBIBYTE)}"`),
  escapes_between_letters: () => message(`"${'x\\u00e9'.repeat(2.2 * MEBIBYTE)}"`),
  medium_texts: () =>
    message(
      `[${Array(19_000)
        .fill(`"${'\\n'.repeat(400)}"`)
        .join(',')}]`,
    ),
  one_long_number: () => message('1'.repeat(15 * MEBIBYTE)),
  one_long_key: () => toolCall('accounts_list', `{"${'k'.repeat(15 * MEBIBYTE)}":1}`),
  faults_below_a_long_key: () => toolCall('accounts_list', `{"${'k'.repeat(200_000)}":{${badKeys(100)}}}`),
  keys_that_grow: () =>
    toolCall(
      'accounts_list',
      `{${Array.from({ length: 20 }, (_, n) => `"${n}${'~/'.repeat(350_000)}":1`).join(',')}}`,
    ),
  mail_of_escapes: () => mail('\\/'.repeat(7.9 * MEBIBYTE)),
  mail_of_escapes_by_the_library: () => mail('\\/'.repeat(7.9 * MEBIBYTE), ',"_meta":{"progressToken":"p"}'),
};

const post = (path: string, body: string, headers: Record<string, string>) =>
  fetch(`${url}${path}`, { method: 'POST', body, headers, redirect: 'manual' });

const body = bodies[kind]?.() ?? '';
const attacks: Partial<Record<AttackKind, () => Promise<Response>>> = {
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

const attack = attacks[kind] ?? (() => post('/mcp', body, authorized));
parentPort?.postMessage('ready');
await once(parentPort as NonNullable<typeof parentPort>, 'message');
// Until it is ended from outside.
while (true) {
  // Refusals may come while the body is still being sent; that ends the connection, and is an answer, too.
  await attack().then(
    (answer) => answer.arrayBuffer(),
    () => undefined,
  );
  parentPort?.postMessage('answered');
}
