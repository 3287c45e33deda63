import { cursorCodec, listQuery, objectListSchema, toPage } from '@libs/http';
import Type from 'typebox';
import { ID_LENGTH_MAX, IdParams, ModeSchema, oneOfStrings, sendJsonText, Timestamp } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import { eventTypes } from './event.ts';
import { eventToJson } from './event-json.ts';
import type { EventService } from './service.ts';

const cursor = cursorCodec(Type.Tuple([Type.String({ maxLength: 64 })]));
const EventType = oneOfStrings(eventTypes);

const EventSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('event'),
  type: EventType,
  timestamp: Type.String({
    format: 'date-time',
    description: "When it happened, in the organisation's time.",
  }),
  mode: ModeSchema,
  created_at: Timestamp,
  data: Type.Unknown({ description: 'The object concerned, as it was then.' }),
});

export function registerEventRoutes(routes: PaymentsRoutes, { events }: { events: EventService }): void {
  const tags = ['Events'];

  routes.get(
    '/v1/events',
    {
      access: 'events:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'events.list',
        tags,
        summary: 'List events, newest first; they are kept for 90 days',
        querystring: listQuery({
          type: Type.Optional(EventType),
          object_id: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: ID_LENGTH_MAX,
              description: 'Events of one payment, payment method or webhook endpoint.',
            }),
          ),
        }),
        response: { 200: objectListSchema(EventSchema) },
      },
    },
    async (request, reply) => {
      const { query } = request;
      const rows = await events.list(request.caller.tenant, {
        type: query.type ?? null,
        subjectId: query.object_id ?? null,
        beforeId: cursor.decode(query.cursor)?.[0] ?? null,
        limit: query.limit + 1,
      });
      const page = toPage(rows, { limit: query.limit, cursorOf: (last) => cursor.encode([last.id]) });
      const next = JSON.stringify(page.next_cursor);
      const data = page.data.map(eventToJson).join(',');
      return sendJsonText(reply, `{"object":"list","data":[${data}],"next_cursor":${next}}`);
    },
  );

  routes.get(
    '/v1/events/:id',
    {
      access: 'events:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'events.get',
        tags,
        summary: 'Get an event',
        params: IdParams,
        response: { 200: EventSchema },
      },
    },
    async (request, reply) => {
      const event = await events.get(request.caller.tenant, request.params.id);
      return sendJsonText(reply, eventToJson(event));
    },
  );
}
