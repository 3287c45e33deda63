import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { PayloadError } from '../payload.ts';
import type { AppMessage, InboundApp } from './app.ts';
import { fieldsIn, isJsonObject, type JsonFields, keyText, optionalKeyText } from './json-fields.ts';

/** Slack's own rule: an older request may be a copy that somebody sends again. */
const TOLERANCE_SECONDS = 5 * 60;
const CHALLENGE_CHARACTERS_MAX = 1_024;
/** Kinds of messages in which somebody says something; the others tell of edits, joins and the like. */
const SPOKEN = new Set([undefined, 'bot_message', 'me_message', 'file_share', 'thread_broadcast']);

/** Slack's Events API (https://docs.slack.dev/apis/events-api). */
export function slackApp(signingSecret: string | undefined): InboundApp {
  return {
    platform: 'slack',
    title: 'Slack',
    event: 'slack.message.received',
    isConfigured: signingSecret !== undefined,
    scheme: 'X-Slack-Signature',
    signatureOf: (headers, body, now) =>
      validSignature(
        { timestamp: headers['x-slack-request-timestamp'], signature: headers['x-slack-signature'] },
        { body, secret: signingSecret ?? '', now },
      ),
    receive(payload, body) {
      if (!isJsonObject(payload)) throw new PayloadError('the body is not an object');
      if (payload.type === 'url_verification') {
        const { challenge } = payload;
        if (typeof challenge !== 'string' || challenge.length > CHALLENGE_CHARACTERS_MAX)
          throw new PayloadError('challenge is missing');
        return { kind: 'answered', body: { challenge } };
      }
      const deliveryId = optionalKeyText(payload, 'event_id') ?? hash('sha256', body);
      return { kind: 'kept', deliveryId, body: undefined };
    },
    read: (payload, receivedAt) => (isJsonObject(payload) ? readEvent(payload, receivedAt) : []),
  };
}

function validSignature(
  { timestamp, signature }: { timestamp: unknown; signature: unknown },
  { body, secret, now }: { body: Buffer; secret: string; now: Date },
): string | null {
  if (typeof timestamp !== 'string' || typeof signature !== 'string' || secret === '') return null;
  const hex = /^v0=([0-9a-f]{64})$/.exec(signature)?.[1];
  if (hex === undefined || !/^\d{1,12}$/.test(timestamp)) return null;
  if (Math.abs(now.getTime() / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) return null;
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();
  return timingSafeEqual(Buffer.from(hex, 'hex'), expected) ? signature : null;
}

function readEvent(payload: JsonFields, receivedAt: Date): AppMessage[] {
  const event = fieldsIn(payload, 'event');
  const isMessage = event.type === 'message' || event.type === 'app_mention';
  if (payload.type !== 'event_callback' || !isMessage || !SPOKEN.has(event.subtype as string | undefined))
    return [];
  const team = keyText(payload, 'team_id');
  const channel = keyText(event, 'channel');
  const ts = keyText(event, 'ts');
  const from = optionalKeyText(event, 'user') ?? optionalKeyText(event, 'bot_id');
  // Slack names the installations that may see it; what an account said itself it has not received.
  const viewers = Array.isArray(payload.authorizations) ? payload.authorizations.filter(isJsonObject) : [];
  const accounts = viewers
    .map(
      (viewer) => [optionalKeyText(viewer, 'team_id') ?? team, optionalKeyText(viewer, 'user_id')] as const,
    )
    .filter(([, user]) => user !== null && user !== from)
    .map(([home, user]) => `${home}/${user}`);
  return [
    {
      accounts: [...new Set(accounts)],
      // A mention comes twice, as a message and as a mention, under two ids of events.
      key: `${team}/${channel}/${ts}`,
      at: momentOf(ts, receivedAt),
      channel,
      message: event,
      data: { team_id: team, channel, from, event_id: payload.event_id ?? null, message: event },
    },
  ];
}

const SECONDS_MAX = 253_402_300_799;

function momentOf(ts: string, receivedAt: Date): Date {
  const seconds = Number(ts);
  return seconds >= 0 && seconds <= SECONDS_MAX ? new Date(Math.floor(seconds * 1_000)) : receivedAt;
}
