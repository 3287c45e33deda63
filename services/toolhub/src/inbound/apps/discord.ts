import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { PayloadError } from '../payload.ts';
import type { AppMessage, InboundApp } from './app.ts';
import { fieldsIn, isJsonObject, keyText, optionalKeyText } from './json-fields.ts';

/** Kinds of interactions, by Discord's numbers. */
const PING = 1;
const COMMAND = 2;
const COMPONENT = 3;
const AUTOCOMPLETE = 4;
const MODAL = 5;
const KEPT = [COMMAND, COMPONENT, MODAL];

/** Kinds of answers. */
const PONG = { type: 1 };
/** Seen by the sender alone. */
const RECEIVED = { type: 4, data: { content: 'Received.', flags: 64 } };
const LEFT_AS_IT_IS = { type: 6 };
const NO_SUGGESTIONS = { type: 8, data: { choices: [] } };

/** The prefix that makes 32 bytes an Ed25519 key in DER (RFC 8410). */
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex');

/** Discord's interactions (https://discord.com/developers/docs/interactions/receiving-and-responding). */
export function discordApp(publicKeys: readonly string[] | undefined): InboundApp {
  const keys = (publicKeys ?? []).map(toKey);
  return {
    platform: 'discord',
    title: 'Discord',
    event: 'discord.message.received',
    isConfigured: keys.length > 0,
    scheme: 'X-Signature-Ed25519',
    signatureOf(headers, body) {
      const signature = headers['x-signature-ed25519'];
      const timestamp = headers['x-signature-timestamp'];
      if (typeof signature !== 'string' || typeof timestamp !== 'string') return null;
      if (!/^[0-9a-f]{128}$/i.test(signature) || !/^\d{1,12}$/.test(timestamp)) return null;
      const signed = Buffer.concat([Buffer.from(timestamp), body]);
      const bytes = Buffer.from(signature, 'hex');
      return keys.some((key) => verify(null, signed, key, bytes)) ? signature : null;
    },
    receive(payload) {
      if (!isJsonObject(payload)) throw new PayloadError('the body is not an object');
      const { type } = payload;
      if (type === PING) return { kind: 'answered', body: PONG };
      if (type === AUTOCOMPLETE) return { kind: 'answered', body: NO_SUGGESTIONS };
      const body = type === COMPONENT ? LEFT_AS_IT_IS : RECEIVED;
      return { kind: 'kept', deliveryId: keyText(payload, 'id'), body };
    },
    read: (payload, receivedAt) => readInteraction(payload, receivedAt),
  };
}

function toKey(hex: string): KeyObject {
  const key = Buffer.concat([ED25519_DER, Buffer.from(hex, 'hex')]);
  return createPublicKey({ key, format: 'der', type: 'spki' });
}

function readInteraction(payload: unknown, receivedAt: Date): AppMessage[] {
  if (!isJsonObject(payload) || !KEPT.includes(payload.type as number)) return [];
  const account = keyText(payload, 'application_id');
  const channel = optionalKeyText(payload, 'channel_id') ?? '';
  // In a server the person is a member; in a direct message there is none.
  const member = fieldsIn(fieldsIn(payload, 'member'), 'user');
  const from = optionalKeyText(member, 'id') ?? optionalKeyText(fieldsIn(payload, 'user'), 'id');
  // Whoever has the token may answer in the app's name.
  const { token: _token, ...interaction } = payload;
  return [
    {
      accounts: [account],
      key: keyText(payload, 'id'),
      at: receivedAt,
      channel,
      message: interaction,
      data: {
        ...{ application_id: account, guild_id: payload.guild_id ?? null, channel_id: channel, from },
        message: interaction,
      },
    },
  ];
}
