import { strict as assert } from 'node:assert';
import { Type } from '@fastify/type-provider-typebox';
import { cursorCodec, JSON_LIMITS, parseJson } from '@libs/http';
import { AppError, JsonRefused, parseInSlices } from '@libs/runtime';
import { decodeWebhookSecret, signMessage, verifyMessage } from '@libs/webhooks';
import { parseIdempotencyKey } from '../../../services/payments/src/idempotency/key.ts';
import { createFastReader } from '../../../services/toolhub/src/mcp/fast-path.ts';
import { calledTool, idOf, readBody } from '../../../services/toolhub/src/mcp/message.ts';
import {
  isOwnRedirect,
  isRegisteredRedirect,
  redirectHost,
  registrationFault,
} from '../../../services/toolhub/src/oauth/provider/redirects.ts';
import { KIB, type Target } from '../fuzz.ts';
import { expecting } from './expecting.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member));
  return deepest + 1;
}

export const json: Target = {
  name: 'json',
  words: [
    '{',
    '}',
    '[',
    ']',
    '"a":',
    '"a":1,',
    ',',
    ':',
    '\\u0000',
    '\\ud83d',
    '1e5',
    '-1',
    '"',
    '\\"',
    '{"a":',
  ],
  bytesMax: 64 * KIB,
  async run(input) {
    const value = expecting(AppError, () => parseJsonBriefly(input));
    await compareSliced(input, value);
    if (value === undefined) return;
    assert(depthOf(value) <= JSON_LIMITS.depthMax, 'deeper than promised');
    const again = JSON.stringify(value);
    assert(
      !/\\u0000|\\ud[89a-f]/i.test(again.replaceAll('\\\\', '')),
      'text that cannot be stored got through',
    );
  },
};

/** A refusal names what it refuses, and that may be long. */
const FAULTS_LENGTH_MAX = 256 * KIB;

function parseJsonBriefly(input: Buffer): unknown {
  try {
    return parseJson(input);
  } catch (error) {
    if (error instanceof AppError) assertBrief(error.details ?? []);
    throw error;
  }
}

function assertBrief(faults: readonly unknown[]): void {
  assert(JSON.stringify(faults).length < FAULTS_LENGTH_MAX, 'a refusal that repeats its input');
}

/** What is read in slices is the same value, and what is refused in one go is not taken in slices. */
async function compareSliced(input: Buffer, value: unknown): Promise<void> {
  try {
    const sliced = await parseInSlices(input, JSON_LIMITS);
    assert(value !== undefined || sliced.suspicious, 'taken in slices and refused in one go');
    if (value !== undefined) assert.deepEqual(sliced.value, value);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    assert(value === undefined, `refused in slices (${error.fault}) and taken in one go`);
  }
}

const readFast = createFastReader();

export const jsonRpc: Target = {
  name: 'json-rpc',
  words: [
    '"jsonrpc":"2.0"',
    '"id":1',
    '"method":"tools/call"',
    '"params":{',
    '"arguments":{',
    '"_meta":{',
    '}',
    '[',
    ']',
    ',',
  ],
  bytesMax: 64 * KIB,
  run(input) {
    const body = expecting(AppError, () => readBody(input));
    if (body === undefined || body.kind === 'refused') return;
    assertBrief(body.badText);
    idOf(body.message);
    calledTool(body.message);
    for (const version of ['2026-07-28', '2025-06-18', undefined])
      readFast(body.message, {
        ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
        'mcp-method': 'tools/call',
      });
  },
};

const PUBLIC_URL = 'https://hub.example';

const REGISTERED = [
  'https://app.example/cb',
  'http://127.0.0.1/cb',
  'http://[::1]:7/cb',
  'com.example.app:/cb',
];

export const redirects: Target = {
  name: 'redirects',
  words: [
    'https://',
    'http://',
    'localhost',
    '127.0.0.1',
    '[::1]',
    ':',
    '@',
    '\\',
    '//',
    '#',
    '?',
    '%2f',
    '..',
    'javascript:',
    '.example',
    ':99999',
  ],
  bytesMax: 4 * KIB,
  run(input) {
    const uri = input.toString('utf8');
    if (isOwnRedirect(uri, PUBLIC_URL)) {
      const { hostname, username, hash } = new URL(uri);
      assert(username === '' && hash === '', 'more than an address');
      assert(
        [
          'hub.example',
          'localhost',
          '127.0.0.1',
          '[::1]',
          'claude.ai',
          'claude.com',
          'chatgpt.com',
          'chat.openai.com',
        ].includes(hostname) || !/^https?:/.test(uri),
        `the own client would be sent to ${hostname}`,
      );
    }
    if (isRegisteredRedirect(uri, REGISTERED)) {
      const { host, hostname, protocol } = new URL(uri);
      assert(
        REGISTERED.includes(uri) || (protocol === 'http:' && ['127.0.0.1', '[::1]'].includes(hostname)),
        `a client would be sent to ${host}`,
      );
    }
    if (registrationFault(uri) === undefined) {
      assert(!/^(javascript|data|vbscript|file|blob):/i.test(uri), 'a script would be registered');
      redirectHost(uri);
    }
  },
};

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;

const SIGNED = { id: 'msg_1', timestampSeconds: 1_789_000_000, body: '{"type":"payment.completed"}' };

const SIGNATURE = signMessage(SIGNED, [decodeWebhookSecret(SECRET)]);

export const signatures: Target = {
  name: 'signatures',
  words: ['v1,', 'v1a,', ' ', ',', '=', SIGNATURE, '1789000000', 'msg_1', '\n', SIGNED.body],
  bytesMax: 16 * KIB,
  run(input) {
    const [id = '', timestamp = '', signature = '', ...body] = input
      .toString('utf8')
      .replaceAll('{signature}', SIGNATURE)
      .split('\n');
    const verdict = verifyMessage({
      headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
      body: body.join('\n'),
      secrets: [SECRET],
      now: new Date(SIGNED.timestampSeconds * 1_000),
    });
    const isOriginal =
      id === SIGNED.id && Number(timestamp) === SIGNED.timestampSeconds && body.join('\n') === SIGNED.body;
    assert(!verdict.ok || isOriginal, 'a message that nobody signed was believed');
  },
};

const cursor = cursorCodec(Type.Object({ id: Type.String() }, { additionalProperties: false }));

export const headers: Target = {
  name: 'headers',
  words: ['"', '\\"', '\\\\', 'eyJpZCI6ImEifQ', 'a', '=', ','],
  bytesMax: 16 * KIB,
  run(input) {
    const text = input.toString('latin1');
    expecting(AppError, () => {
      const key = parseIdempotencyKey(text);
      assert(key.length > 0 && key.length <= 255 && /^[\x20-\x7e]+$/.test(key), 'not a key');
    });
    expecting(AppError, () => assert(typeof cursor.decode(text).id === 'string'));
  },
};
