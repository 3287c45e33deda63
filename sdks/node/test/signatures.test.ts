import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { decodeWebhookSecret, signMessage } from '@libs/webhooks';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SignatureInvalidError, webhooks } from '../src/index.ts';

interface Vector {
  name: string;
  expected: string;
  now: string;
  secrets: string[];
  headers: Record<string, string>;
  body_base64: string;
}

const file = new URL('../../vectors/webhook-signatures.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[];

function verdict(verify: () => unknown): string {
  try {
    verify();
    return 'ok';
  } catch (error) {
    if (error instanceof SignatureInvalidError) return error.reason;
    throw error;
  }
}

describe('the shared vectors', () => {
  test.each(vectors)('$name: $expected', ({ expected, now, secrets, headers, body_base64 }) => {
    const body = Buffer.from(body_base64, 'base64');
    const options = { now: new Date(now) };
    expect(verdict(() => webhooks.verify(body, headers, secrets, options))).toBe(expected);
    expect(verdict(() => webhooks.verify(body, new Headers(headers), secrets, options))).toBe(expected);
    if (expected === 'ok') {
      expect(webhooks.verify(body.toString('utf8'), headers, secrets, options)).toEqual(
        JSON.parse(body.toString()),
      );
    }
  });
});

describe('verify', () => {
  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

  test('refuses headers that are no text', () => {
    const headers = webhooks.sign('{}', secret);
    for (const [name, reason] of [
      ['webhook-id', 'no_match'],
      ['webhook-timestamp', 'bad_timestamp'],
    ] as const) {
      const strange = { ...headers, [name]: `${headers[name]}\udcff` };
      expect(verdict(() => webhooks.verify('{}', strange, secret))).toBe(reason);
    }
  });

  test('reads signatures that come in several lines, however a server joins them', () => {
    const body = '{"id":"evt_1"}';
    const other = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
    const { 'webhook-signature': right, ...headers } = webhooks.sign(body, secret);
    const wrong = webhooks.sign(body, other)['webhook-signature'];
    for (const pair of [
      [wrong, right],
      [right, wrong],
    ] as const) {
      const lines = pair.map((line) => ['webhook-signature', line] as const);
      expect(webhooks.verify(body, [...Object.entries(headers), ...lines], secret).id).toBe('evt_1');
      for (const value of [pair, pair.join(' '), pair.join(', '), pair.join(',')]) {
        const all = { ...headers, 'webhook-signature': value };
        expect(webhooks.verify(body, all, secret).id).toBe('evt_1');
      }
    }
  });

  test('takes bytes in every form, also those of another realm, as test runners give them', () => {
    const body = '{"id":"evt_1"}';
    const headers = webhooks.sign(body, secret);
    const bytes = [...Buffer.from(body)];
    const own = new Uint8Array(bytes);
    const foreign = runInNewContext('new Uint8Array(bytes)', { bytes }) as Uint8Array<ArrayBuffer>;
    const around = Buffer.from(`__${body}__`).subarray(2, -2);
    for (const form of [own, own.buffer, new DataView(own.buffer), foreign, foreign.buffer, around]) {
      expect(webhooks.verify(form, headers, secret).id).toBe('evt_1');
    }
  });

  test("accepts what the service's own signer signs, and what `sign` signs, and nothing that was changed", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (data, changedAt) => {
        const body = `{"id":"evt_1","data":${data}}`;
        const timestampSeconds = Math.floor(Date.now() / 1000);
        const signature = signMessage({ id: 'evt_1', timestampSeconds, body }, [decodeWebhookSecret(secret)]);
        const headers = {
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(timestampSeconds),
          'webhook-signature': signature,
        };
        expect(webhooks.verify(body, headers, secret)).toEqual(JSON.parse(body));
        expect(webhooks.verify(body, webhooks.sign(body, secret), secret)).toEqual(JSON.parse(body));
        const changed = Buffer.from(body);
        changed[changedAt % changed.length] = (changed[changedAt % changed.length] as number) ^ 1;
        expect(verdict(() => webhooks.verify(changed, headers, secret))).toBe('no_match');
      }),
    );
  });

  test('takes headers as Node, fetch and pairs give them', () => {
    const body = '{"id":"evt_9"}';
    const headers = webhooks.sign(body, secret);
    expect(headers['webhook-id']).toBe('evt_9');
    for (const form of [
      headers,
      new Headers(headers),
      new Map(Object.entries(headers)),
      Object.entries(headers),
    ]) {
      expect(webhooks.verify(body, form, secret)).toEqual({ id: 'evt_9' });
    }
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    expect(webhooks.verify(Buffer.from(body), lists, secret)).toEqual({ id: 'evt_9' });
  });

  test('an object that was parsed already, absent headers, an absent secret: each says what to do', () => {
    const headers = webhooks.sign('{}', secret);
    const reason = (...given: unknown[]) =>
      verdict(() => webhooks.verify(...(given as Parameters<typeof webhooks.verify>)));
    expect(reason({ id: 'evt_1' }, headers, secret)).toBe('bad_body');
    expect(reason(undefined, headers, secret)).toBe('bad_body');
    expect(reason('{}', undefined, secret)).toBe('missing_header');
    expect(reason('{}', headers, undefined)).toBe('bad_secret');
  });

  test('no message contains the secret', () => {
    const texts = ['whsec_typo-in-the-secret', secret].map((given) => {
      try {
        webhooks.verify('{}', { ...webhooks.sign('{} ', secret), 'webhook-id': 'x' }, given);
        return '';
      } catch (error) {
        return `${(error as Error).stack} ${JSON.stringify(error)}`;
      }
    });
    expect(texts[0]).toMatch(/A webhook secret is whsec_ and base64/);
    for (const text of texts) expect(text).not.toMatch(/typo-in|BQUFBQ/);
  });

  test('a clock that is off is named, with how much', () => {
    const headers = webhooks.sign('{}', secret, { now: new Date(Date.now() - 412_000) });
    expect(() => webhooks.verify('{}', headers, secret)).toThrow(
      /41[23] s before this machine's time.*clock/,
    );
    expect(webhooks.verify('{}', headers, secret, { toleranceSeconds: 500 })).toEqual({});
  });
});
