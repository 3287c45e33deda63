import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  createKeyCache,
  decodeWebhookSecret,
  newWebhookSecret,
  signMessage,
  verifyMessage,
  WebhookSecretError,
} from './signing.ts';

const body = fc.json();
const id = fc.stringMatching(/^evt_[0-9a-z]{26}$/);

function signedHeaders(secrets: string[], messageId: string, text: string, at = new Date()) {
  const timestampSeconds = Math.floor(at.getTime() / 1000);
  const message = { id: messageId, timestampSeconds, body: text };
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signMessage(message, secrets.map(decodeWebhookSecret)),
  };
}

describe('signMessage', () => {
  it('is accepted by the reference library, with either secret while one rotates', () => {
    fc.assert(
      fc.property(id, body, (messageId, text) => {
        const [current, previous] = [newWebhookSecret(randomBytes), newWebhookSecret(randomBytes)];
        const headers = signedHeaders([current, previous], messageId, text);
        for (const secret of [current, previous]) {
          expect(new Webhook(secret).verify(text, headers)).toEqual(JSON.parse(text));
        }
        const stranger = new Webhook(newWebhookSecret(randomBytes));
        expect(() => stranger.verify(text, headers)).toThrow();
      }),
    );
  });

  it('gives the signature of the published example', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1614265330,
      body: '{"test": 2432232314}',
    };
    expect(signMessage(message, [decodeWebhookSecret(secret)])).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });
});

describe('verifyMessage', () => {
  const secret = newWebhookSecret(randomBytes);
  const now = new Date('2026-11-15T12:00:00Z');

  it('accepts what the reference library signs', () => {
    fc.assert(
      fc.property(id, body, (messageId, text) => {
        const headers = {
          'webhook-id': messageId,
          'webhook-timestamp': String(now.getTime() / 1000),
          'webhook-signature': new Webhook(secret).sign(messageId, now, text),
        };
        expect(verifyMessage({ headers, body: text, secrets: [secret], now })).toEqual({ ok: true });
      }),
    );
  });

  it('refuses any change of id, time, body or signature', () => {
    fc.assert(
      fc.property(id, body, fc.constantFrom('id', 'time', 'body', 'secret'), (messageId, text, what) => {
        const headers = signedHeaders([secret], messageId, text, now);
        if (what === 'id') headers['webhook-id'] += '0';
        if (what === 'time') headers['webhook-timestamp'] = String(now.getTime() / 1000 + 1);
        const result = verifyMessage({
          headers,
          body: what === 'body' ? `${text} ` : text,
          secrets: [what === 'secret' ? newWebhookSecret(randomBytes) : secret],
          now,
        });
        expect(result).toEqual({ ok: false, reason: 'no_match' });
      }),
    );
  });

  it.each([
    [-300, 'ok'],
    [-301, 'too_old'],
    [300, 'ok'],
    [301, 'too_new'],
  ])('holds the tolerance of five minutes at %i s: %s', (shiftSeconds, expected) => {
    const headers = signedHeaders([secret], 'evt_1', '{}', new Date(now.getTime() + shiftSeconds * 1000));
    const result = verifyMessage({ headers, body: '{}', secrets: [secret], now });
    expect(result.ok ? 'ok' : result.reason).toBe(expected);
  });

  it('refuses missing headers, odd times and odd signatures', () => {
    const headers = signedHeaders([secret], 'evt_1', '{}', now);
    const verify = (changed: Record<string, string | undefined>) => {
      const result = verifyMessage({
        headers: { ...headers, ...changed },
        body: '{}',
        secrets: [secret],
        now,
      });
      return result.ok ? 'ok' : result.reason;
    };
    expect(verify({})).toBe('ok');
    for (const name of Object.keys(headers)) {
      expect(verify({ [name]: undefined })).toBe('missing_header');
      expect(verify({ [name]: '' })).toBe('missing_header');
    }
    expect(verify({ 'webhook-timestamp': '1e9' })).toBe('bad_timestamp');
    expect(verify({ 'webhook-signature': 'v1,' })).toBe('no_match');
    expect(verify({ 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') })).toBe(
      'no_match',
    );
    expect(verify({ 'webhook-signature': `v1a,xx ${headers['webhook-signature']} v1,!` })).toBe('ok');
    // So many are compared and no more: who sends thousands does not have us at work for each.
    const after = (count: number) => `${'v1,AAAA '.repeat(count)}${headers['webhook-signature']}`;
    expect(verify({ 'webhook-signature': after(15) })).toBe('ok');
    expect(verify({ 'webhook-signature': after(16) })).toBe('no_match');
  });
});

describe('secrets', () => {
  it('are whsec_ and 32 random bytes', () => {
    expect(newWebhookSecret(randomBytes)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it.each([
    '',
    'whsec_',
    'secret',
    'whsec_!!!!',
    'whsec_AAAA',
    `whsec_${'A'.repeat(100)}`,
    // Not base64 to its end, and without the prefix.
    `whsec_${'A'.repeat(32)}!`,
    'A'.repeat(38),
  ])('refuses %j', (text) => {
    expect(() => decodeWebhookSecret(text)).toThrow(WebhookSecretError);
  });

  it('have 16 to 64 bytes', () => {
    const isTaken = (bytes: number) => {
      try {
        return (
          decodeWebhookSecret(`whsec_${Buffer.alloc(bytes).toString('base64')}`).symmetricKeySize === bytes
        );
      } catch (error) {
        expect(error).toBeInstanceOf(WebhookSecretError);
        return false;
      }
    };
    expect([15, 16, 64, 65].map(isTaken)).toEqual([false, true, true, false]);
  });

  it('are decoded once', () => {
    const keyOf = createKeyCache();
    const secret = newWebhookSecret(randomBytes);
    expect(keyOf(secret)).toBe(keyOf(secret));
    expect(keyOf(newWebhookSecret(randomBytes))).not.toBe(keyOf(secret));
  });
});
