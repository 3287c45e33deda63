import { badCursor, listQuery, objectListPage, objectListSchema } from '@libs/http';
import Type from 'typebox';
import { idCursor, idParams, oneOfStrings, RailSchema, Timestamp } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Tenant } from '../tenant.ts';
import type { RailMessages } from './messages.ts';
import type { RailMessage } from './rail.ts';

export interface RailRouteDependencies {
  /** Throws where the tenant has no such payment. */
  getPayment: (tenant: Tenant, id: string) => Promise<unknown>;
  messages: RailMessages;
}

function messageSchema(kinds: readonly string[]) {
  return Type.Object(
    {
      id: Type.String(),
      object: Type.Literal('rail_message'),
      rail: RailSchema,
      direction: oneOfStrings(['out', 'in']),
      kind: oneOfStrings(kinds),
      content: Type.String({
        description:
          'The XML, or the lines of a NACHA file that concern this payment, with controls for these lines.',
      }),
      created_at: Timestamp,
    },
    {
      title: 'RailMessage',
      description: 'What went over a rail for a payment, as it was sent or received.',
      examples: [
        {
          id: 'msg_01kaf3v6w8q2m5x9t7c4b1n0ze',
          object: 'rail_message',
          rail: 'rtp',
          direction: 'out',
          kind: 'pacs.008',
          content: '<?xml version="1.0" encoding="UTF-8"?><Document>…</Document>',
          created_at: '2026-11-16T15:04:05.000Z',
        },
      ],
    },
  );
}

const cursor = idCursor('msg');

export function registerRailRoutes(
  routes: PaymentsRoutes,
  { getPayment, messages }: RailRouteDependencies,
): void {
  routes.get(
    '/v1/payments/:id/messages',
    {
      access: 'payments:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'payments.messages',
        summary: 'Read what went over the rails for a payment',
        description:
          'Newest first: the ISO 20022 messages, and the lines of the NACHA files that concern it.',
        tags: ['Payments'],
        params: idParams('pay_01kaf3v6w8q2m5x9t7c4b1n0ze'),
        querystring: listQuery(),
        response: { 200: objectListSchema(messageSchema(messages.kinds)) },
      },
    },
    async ({ params, query, caller }) => {
      await getPayment(caller.tenant, params.id);
      return objectListPage(query, {
        cursor,
        async read({ from }) {
          const all = await messages.list(caller.tenant, params.id);
          if (from === undefined) return all;
          const last = all.findIndex(({ id }) => id === from[0]);
          if (last === -1) throw badCursor();
          return all.slice(last + 1);
        },
        positionOf: ({ id }) => [id],
        show: toApi,
      });
    },
  );
}

function toApi({ id, rail, direction, kind, content, createdAt }: RailMessage) {
  const created_at = createdAt.toISOString();
  return { id, object: 'rail_message' as const, rail, direction, kind, content, created_at };
}
