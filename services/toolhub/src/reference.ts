// What the reference tells of the rules of routes, and of what is sent to customers.
import type { DecidedRoute, WebhookDescription } from '@libs/http';
import Type from 'typebox';
import type { RouteAccess } from './customers/access.ts';
import type { errors } from './errors.ts';
import { EVENT_TYPES, type EventType } from './events/event.ts';

export type ErrorCode = keyof (typeof errors)['definitions'] & string;

/** Why a request is refused before the work begins. */
export function refusalsOf({ access, rate, method }: DecidedRoute<RouteAccess, string>): ErrorCode[] {
  const codes = accessRefusals(access);
  // What changes something and comes with a cookie must come from our own pages.
  if (method !== 'GET' && access !== 'public') codes.push('csrf');
  if (rate !== 'none') codes.push('rate_limited');
  return codes;
}

function accessRefusals(access: RouteAccess): ErrorCode[] {
  switch (access) {
    case 'public':
    case 'visitor':
    case 'own_site':
      return [];
    case 'admin':
      return ['unauthenticated', 'customer_suspended', 'forbidden'];
    case 'person':
      return ['unauthenticated', 'customer_suspended', 'forbidden', 'insufficient_scope', 'person_required'];
    default:
      return ['unauthenticated', 'customer_suspended', 'forbidden', 'insufficient_scope'];
  }
}

/** What problems of some codes tell beside the standard members. */
export const problemMembers = {
  holder: { type: 'string', description: 'Of `locked`: the run that is at it.' },
  held_until: {
    type: 'string',
    format: 'date-time',
    description: 'Of `locked`: when it gives way at the latest.',
  },
  platform_code: {
    type: 'string',
    description: 'Of `connect_failed`: the word of the vendor for the reason.',
  },
  reason: { type: 'string', description: 'Of `webhook_url_refused`: why.' },
};

const webhookData: Record<EventType, { summary: string; example: Record<string, unknown> }> = {
  'whatsapp.message.received': {
    summary: 'A WhatsApp message came in',
    example: {
      phone_number_id: '106540352242922',
      from: '15551234567',
      message: { id: 'wamid.HBgL', from: '15551234567', type: 'text', text: { body: 'Hello' } },
      contact: { profile: { name: 'Ada' }, wa_id: '15551234567' },
    },
  },
  'whatsapp.message.status': {
    summary: 'A WhatsApp message was delivered, read or failed',
    example: {
      phone_number_id: '106540352242922',
      to: '15551234567',
      status: { id: 'wamid.HBgL', status: 'read' },
    },
  },
  'slack.message.received': {
    summary: 'A Slack message came in',
    example: {
      team_id: 'T012AB3C4',
      channel: 'C061EG9SL',
      from: 'U061F7AUR',
      event_id: 'Ev0PV52K21',
      message: { type: 'message', channel: 'C061EG9SL', user: 'U061F7AUR', text: 'Hello' },
    },
  },
  'discord.message.received': {
    summary: 'Somebody used the Discord app',
    example: {
      application_id: '845027738276462632',
      guild_id: '290926798626357999',
      channel_id: '645027906669510667',
      from: '53908232506183680',
      message: { id: '786008729715212338', type: 2, data: { name: 'help' } },
    },
  },
  'telegram.message.received': {
    summary: 'A Telegram message came in',
    example: {
      bot_id: '110201543',
      chat_id: 42,
      message: { message_id: 7, chat: { id: 42, type: 'private' }, text: 'Hello' },
    },
  },
  'credential.expiring': {
    summary: 'A connection will need a new login soon',
    example: { platform: 'linkedin', account: 'Ada', expires_at: '2026-11-20T15:04:05.000Z' },
  },
  'credential.expired': {
    summary: 'A connection needs a new login',
    example: { platform: 'slack', account: 'ada in Acme', reason: 'invalid_grant' },
  },
  'credential.recovered': {
    summary: 'A connection works again',
    example: { platform: 'slack', account: 'ada in Acme' },
  },
  'usage.threshold': {
    summary: 'The calls of the month have reached 80 % or 100 % of the limit',
    example: { threshold_percent: 80, used: 800, limit: 1000, period: '2026-11' },
  },
  'invoice.created': {
    summary: 'An invoice was made',
    example: {
      invoice_id: 'inv_01kaf3v6w8q2m5x9t7c4b1n0ze',
      number: 'INV-000042',
      period: '2026-10',
      status: 'open',
      currency: 'USD',
      total_cents: 2900,
      issued_at: '2026-11-01T00:10:00.000Z',
    },
  },
  'tool.call.failed': {
    summary: 'A tool call failed',
    example: {
      tool: 'slack_send_message',
      platform: 'slack',
      code: 'platform_error',
      message: 'channel_not_found',
    },
  },
  'webhook.test': {
    summary: 'You asked for a test',
    example: { message: 'This is a test of the webhook.', webhook_url: 'https://example.com/hooks' },
  },
};

/** What webhooks carry, by type of event. */
export const webhookDescriptions: Record<string, WebhookDescription> = Object.fromEntries(
  EVENT_TYPES.map((type) => [
    type,
    {
      summary: webhookData[type].summary,
      description:
        'Sent to the webhook where it wants this type, signed as Standard Webhooks says. Delivered at least once, in no certain order.',
      tags: ['Webhooks'],
      schema: Type.Object({
        type: Type.Literal(type),
        timestamp: Type.String({ format: 'date-time' }),
        data: Type.Unsafe<Record<string, unknown>>({
          type: 'object',
          additionalProperties: true,
          examples: [webhookData[type].example],
        }),
      }),
    },
  ]),
);
