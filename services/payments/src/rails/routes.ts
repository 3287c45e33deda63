import { cursorCodec, listQuery, objectListSchema, toPage } from '@libs/http';
import Type from 'typebox';
import { IdParams, oneOfStrings, Timestamp } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Tenant } from '../tenant.ts';
import type { RailMessages } from './messages.ts';
import type { RailMessage } from './rail.ts';
import { RAIL_IDS } from './rail-ids.ts';

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
      rail: oneOfStrings(RAIL_IDS),
      direction: oneOfStrings(['out', 'in']),
      kind: oneOfStrings(kinds),
      content: Type.String({
        description:
          'The XML, or the lines of a NACHA file that concern this payment, with controls for these lines.',
      }),
      created_at: Timestamp,
    },
    { title: 'RailMessage' },
  );
}

const cursor = cursorCodec(Type.Tuple([Type.String({ maxLength: 64 })]));

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
        tags: ['Payments'],
        params: IdParams,
        querystring: listQuery(),
        response: { 200: objectListSchema(messageSchema(messages.kinds)) },
      },
    },
    async ({ params, query, caller }) => {
      await getPayment(caller.tenant, params.id);
      const all = (await messages.list(caller.tenant, params.id)).map(toApi);
      const last = cursor.decode(query.cursor)?.[0];
      const rest = last === undefined ? all : all.slice(all.findIndex(({ id }) => id === last) + 1);
      const page = toPage(rest, { limit: query.limit, cursorOf: ({ id }) => cursor.encode([id]) });
      return { object: 'list' as const, ...page };
    },
  );
}

function toApi({ id, rail, direction, kind, content, createdAt }: RailMessage) {
  const created_at = createdAt.toISOString();
  return { id, object: 'rail_message' as const, rail, direction, kind, content, created_at };
}
