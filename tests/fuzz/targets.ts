import { strict as assert } from 'node:assert';
import { Type } from '@fastify/type-provider-typebox';
import { ImapLimitExceeded, ImapLimiter, SmtpLimitExceeded, SmtpLimiter } from '@libs/egress';
import { cursorCodec, JSON_LIMITS, parseJson } from '@libs/http';
import { AppError, JsonRefused, parseInSlices } from '@libs/runtime';
import { decodeWebhookSecret, signMessage, verifyMessage } from '@libs/webhooks';
import { parseIdempotencyKey } from '../../services/payments/src/idempotency/key.ts';
import { readNacha } from '../../services/payments/src/rails/ach/nacha/read.ts';
import { repliesOf } from '../../services/payments/src/rails/ach/nacha/replies.ts';
import { writeNacha } from '../../services/payments/src/rails/ach/nacha/write.ts';
import { MESSAGE_CHARACTERS_MAX } from '../../services/payments/src/rails/iso20022/xml.ts';
import { readMessage, readStatusReport } from '../../services/payments/src/rails/rtp/messages/read.ts';
import {
  formatMailbox,
  oneLine,
  parseAddress,
} from '../../services/toolhub/src/connectors/email/addresses.ts';
import { TEXT_LENGTH_MAX, textOfHtml } from '../../services/toolhub/src/connectors/email/html-text.ts';
import { safeFilename } from '../../services/toolhub/src/connectors/email/mime-tree.ts';
import { cutText, decodeText } from '../../services/toolhub/src/connectors/email/text-part.ts';
import { createTransferDecoder } from '../../services/toolhub/src/connectors/email/transfer-decoder.ts';
import { readUpdates } from '../../services/toolhub/src/connectors/telegram/updates.ts';
import { plainText } from '../../services/toolhub/src/connectors/vendor-api/plain-text.ts';
import { discordApp } from '../../services/toolhub/src/inbound/apps/discord.ts';
import { slackApp } from '../../services/toolhub/src/inbound/apps/slack.ts';
import { PayloadError, readPayload } from '../../services/toolhub/src/inbound/payload.ts';
import { createFastReader } from '../../services/toolhub/src/mcp/fast-path.ts';
import { calledTool, idOf, readBody } from '../../services/toolhub/src/mcp/message.ts';
import {
  isOwnRedirect,
  isRegisteredRedirect,
  redirectHost,
  registrationFault,
} from '../../services/toolhub/src/oauth/provider/redirects.ts';
import type { Target } from './fuzz.ts';
import { imapHandler } from './imap-handler.ts';

const KIB = 1024;

/** Runs it and lets the refusals through that belong to it. */
function expecting<T>(refusal: new (...args: never[]) => Error, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof refusal)) throw error;
    return undefined;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member));
  return deepest + 1;
}

const json: Target = {
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
    const value = expecting(AppError, () => parseJson(input));
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

const jsonRpc: Target = {
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
    idOf(body.message);
    calledTool(body.message);
    for (const version of ['2026-07-28', '2025-06-18', undefined])
      readFast(body.message, {
        ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
        'mcp-method': 'tools/call',
      });
  },
};

const CHARSETS = [
  '',
  'utf-8',
  'us-ascii',
  'iso-2022-jp',
  'gb18030',
  'utf-16',
  'shift_jis',
  'utf-7',
  'x-unknown',
];

const mime: Target = {
  name: 'mime',
  words: ['=\r\n', '=3D', '=XX', '==', 'QUJD', '\r\n', '> ', '>>> ', ' \n', '-- \n', '../', '\u202e'],
  // As much of a part as is asked for at once; a server that sends more of it is cut off at a literal's length.
  bytesMax: 128 * KIB,
  async run(input, step) {
    for (const encoding of ['base64', 'quoted-printable', '7bit']) {
      const whole = createTransferDecoder(encoding);
      const atOnce = await step(() => Buffer.concat([whole.push(input), whole.end()]));
      assert(atOnce.length <= input.length, `${encoding} gave more than it took`);
      const parts = createTransferDecoder(encoding);
      const middle = Math.floor(input.length / 3);
      const inParts = [
        parts.push(input.subarray(0, middle)),
        parts.push(input.subarray(middle)),
        parts.end(),
      ];
      assert(atOnce.equals(Buffer.concat(inParts)), `${encoding} depends on where chunks end`);
    }
    const charset = CHARSETS[input.length % CHARSETS.length] as string;
    const part = { charset, isFlowed: input.length % 2 === 0, deletesSpace: true };
    const text = await step(() => decodeText(input, part));
    assert(Buffer.byteLength(cutText(text, 1_000).value) <= 1_000, 'longer than asked');
    await step(() => readNames(input.toString('utf8')));
  },
};

function readNames(text: string): void {
  const name = safeFilename(text);
  assert(name === null || !/[/\\\p{Cc}]/u.test(name), 'a file name that is a path');
  const address = parseAddress(text);
  if (address !== undefined) assert(!/[\r\n]/.test(formatMailbox(address)), 'an address of two lines');
  assert(!/[\r\n\0]/.test(oneLine(text)), 'a line of two lines');
}

const html: Target = {
  name: 'html',
  words: [
    '<blockquote>',
    '</blockquote>',
    '<ol start=999999999 type=i>',
    '<li>',
    '<table><tr><td>',
    '<a href="',
    '&#x0;',
    '&amp',
    '<!--',
    '<![CDATA[',
    '<script>',
    '<p>',
    '\u00a0',
  ],
  bytesMax: 128 * KIB,
  async run(input) {
    const { value } = await textOfHtml(input.toString('utf8'));
    assert(value.length <= TEXT_LENGTH_MAX + 100, `${value.length} characters of text`);
  },
};

const nacha: Target = {
  name: 'nacha',
  words: [
    '101 ',
    '5200',
    '6',
    '62',
    '799',
    '798',
    '820',
    '9000',
    '9'.repeat(94),
    '\n',
    '\r\n',
    ' ',
    '0',
    'R01',
    'C01',
  ],
  bytesMax: 256 * KIB,
  run(input) {
    const read = readNacha(input.toString('latin1'), { linesMax: 10_000, faultsMax: 1_000 });
    if (!read.ok) {
      assert(read.faults.length > 0 && read.faults.length <= 1_001, `${read.faults.length} faults`);
      return;
    }
    repliesOf(read.file);
    const again = readNacha(writeNacha(read.file));
    assert(again.ok, 'what was read cannot be written and read again');
    assert.deepEqual(again.file, read.file);
  },
};

const iso20022: Target = {
  name: 'iso20022',
  words: [
    '<!DOCTYPE x [<!ENTITY a "b">]>',
    '&a;',
    '&#x10FFFF;',
    '&#0;',
    '<![CDATA[',
    '<?xml ?>',
    '<!--',
    '-->',
    ' xmlns:a="b"',
    '</',
    '/>',
    '<a>',
    ' a="',
  ],
  bytesMax: MESSAGE_CHARACTERS_MAX + KIB,
  run(input) {
    const xml = input.toString('utf8');
    for (const read of [readMessage, readStatusReport]) {
      const reading = read(xml);
      assert(reading.ok || typeof reading.refusal.reason === 'string');
      assert(!reading.ok || xml.length <= MESSAGE_CHARACTERS_MAX, 'longer than allowed');
    }
  },
};

const PUBLIC_URL = 'https://hub.example';
const REGISTERED = [
  'https://app.example/cb',
  'http://127.0.0.1/cb',
  'http://[::1]:7/cb',
  'com.example.app:/cb',
];

const redirects: Target = {
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

const signatures: Target = {
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

const imap: Target = {
  name: 'imap',
  words: [
    '* ',
    '(',
    ')',
    '[',
    ']',
    '{3}\r\nabc',
    '"',
    '\\',
    '\r\n',
    'FETCH',
    'LIST',
    'OK',
    'NIL',
    '1:3,5',
    '\0',
    'BODYSTRUCTURE',
  ],
  bytesMax: 256 * KIB,
  async run(input, step) {
    const whole = await step(() => passLimiter(input, 64 * KIB));
    const inParts = passLimiter(input, 1_000 + (input.length % 7_000));
    // However the bytes arrive, the same answers pass until something is refused.
    if (!whole.isRefused) assert.deepEqual(inParts, whole, 'the limiter depends on where chunks end');
    const bytes = whole.answers.reduce((sum, answer) => sum + answer.length, 0);
    assert(bytes <= input.length, 'more came out than went in');
    // The library refuses what is no IMAP; how it does so is its own affair, how long it takes is ours.
    for (const answer of whole.answers.slice(0, ANSWERS_PARSED_MAX)) await step(() => imapHandler(answer));
  },
};

const ANSWERS_PARSED_MAX = 200;

/** What the limiter lets through of a stream that arrives in pieces of this size. */
function passLimiter(input: Buffer, size: number): { answers: Buffer[]; isRefused: boolean } {
  const limiter = new ImapLimiter();
  limiter.beginCommand('LIST');
  const answers: Buffer[] = [];
  try {
    for (let start = 0; start < input.length; start += size)
      answers.push(...limiter.push(input.subarray(start, start + size)));
  } catch (error) {
    if (!(error instanceof ImapLimitExceeded)) throw error;
    return { answers, isRefused: true };
  }
  return { answers, isRefused: false };
}

const smtp: Target = {
  name: 'smtp',
  words: ['250-', '250 ', '354 ', '\r\n', 'STARTTLS', 'AUTH LOGIN', 'x'.repeat(600)],
  bytesMax: 512 * KIB,
  run: (input) =>
    expecting(SmtpLimitExceeded, () => {
      const limiter = new SmtpLimiter();
      for (let start = 0; start < input.length; start += 4_096)
        limiter.check(input.subarray(start, start + 4_096));
    }),
};

const whatsapp: Target = {
  name: 'whatsapp',
  words: [
    '"entry":[',
    '"changes":[',
    '"value":{',
    '"messages":[',
    '"statuses":[',
    '"timestamp":"',
    '}',
    ']',
    ',',
    '"id":"wamid.A"',
  ],
  bytesMax: 256 * KIB,
  run: (input) => expecting(PayloadError, () => void readPayload(input, new Date(0))),
};

/** What Telegram, Slack and Discord send by themselves, and the HTML of a post. */
const arrivals: Target = {
  name: 'arrivals',
  words: [
    ...['"update_id":', '"message":{', '"edited_message":{', '"chat":{', '"date":', '"event":{', '"type":2'],
    ...[
      '"authorizations":[',
      '"ts":"1.000001"',
      '"member":{',
      '"data":{',
      '<p>',
      '</p><p>',
      '<li',
      '&#x',
      '&amp;',
    ],
    ...['\\u0000', '\\ud800', '}', ']', ','],
  ],
  bytesMax: 256 * KIB,
  run(input) {
    const text = input.toString('utf8');
    assert(plainText(text).length <= text.length + 1, 'longer than it was');
    let payload: unknown;
    try {
      payload = JSON.parse(text);
    } catch {
      return;
    }
    for (const { message } of readUpdates([payload]))
      assert(!JSON.stringify(message).includes('\\u0000'), 'what no database stores');
    for (const app of [slackApp('secret'), discordApp(['0'.repeat(64)])])
      expecting(PayloadError, () => {
        app.receive(payload, input);
        for (const { key, at } of app.read(payload, new Date(0)))
          assert(key.length > 0 && !Number.isNaN(at.getTime()), 'not a message');
      });
  },
};

const cursor = cursorCodec(Type.Object({ id: Type.String() }, { additionalProperties: false }));

const headers: Target = {
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

export const targets: readonly Target[] = [
  json,
  jsonRpc,
  mime,
  html,
  nacha,
  iso20022,
  redirects,
  signatures,
  imap,
  smtp,
  whatsapp,
  arrivals,
  headers,
];
