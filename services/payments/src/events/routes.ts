import { listPage, listQuery, objectListSchema, sendParts } from '@libs/http';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ID_LENGTH_MAX, idCursor, idParams, sendJsonText } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import { eventToJson } from './event-json.ts';
import { EventSchema, EventTypeSchema, eventExample } from './schemas.ts';
import type { EventService } from './service.ts';
import type { EventStreams } from './stream.ts';

const cursor = idCursor('evt');
export interface EventRouteDependencies {
  events: EventService;
  streams: EventStreams;
  /** Whether the request's key is still what it was when it came in. */
  stillAllowed: (request: FastifyRequest) => Promise<boolean>;
}

export function registerEventRoutes(
  routes: PaymentsRoutes,
  { events, streams, stillAllowed }: EventRouteDependencies,
): void {
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
        summary: 'List events',
        description: 'Newest first; they are kept for 90 days.',
        querystring: listQuery({
          type: Type.Optional(EventTypeSchema),
          object_id: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: ID_LENGTH_MAX,
              description: 'Events of one payment, payment method or webhook endpoint.',
              examples: ['pm_alice'],
            }),
          ),
        }),
        response: { 200: objectListSchema(EventSchema) },
      },
    },
    async (request, reply) => {
      const { query } = request;
      const page = await listPage(query, {
        cursor,
        read: ({ from, limit }) =>
          events.list(request.caller.tenant, {
            ...{ type: query.type ?? null, subjectId: query.object_id ?? null },
            ...{ beforeId: from?.[0] ?? null, limit },
          }),
        positionOf: ({ id }) => [id],
        show: eventToJson,
      });
      const next = JSON.stringify(page.next_cursor);
      const data = page.data.join(',');
      return sendJsonText(reply, `{"object":"list","data":[${data}],"next_cursor":${next}}`);
    },
  );

  routes.get(
    '/v1/events/stream',
    {
      access: 'events:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      codes: ['too_many_streams', 'last_event_unknown'],
      schema: {
        operationId: 'events.stream',
        tags,
        produces: {
          type: 'text/event-stream',
          description: 'A stream that stays open.',
          example: `id: ${eventExample.id}\nevent: ${eventExample.type}\ndata: ${JSON.stringify(eventExample)}\n\n`,
        },
        summary: 'Hear of events as they happen, by server-sent events',
        description:
          'Each message has the id and the type of an event, and the event itself as data. A stream that broke off goes on after the event that `Last-Event-ID` names, for 24 hours.',
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({ maxLength: 64, description: 'The id of the last event that you have.' }),
          ),
        }),
      },
    },
    async (request, reply) => {
      const hungUp = new AbortController();
      reply.raw.once('close', () => hungUp.abort());
      if (reply.raw.destroyed) hungUp.abort();
      const lastEventId = request.headers['last-event-id'];
      const messages = await streams.open({
        caller: request.caller,
        lastEventId: typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : null,
        stillAllowed: () => stillAllowed(request),
        hungUp: hungUp.signal,
        hangUp: () => reply.raw.destroy(),
      });
      reply
        .type('text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no');
      return sendParts(reply, messages);
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
        description: 'With the object concerned as it was then.',
        params: idParams(eventExample.id),
        response: { 200: EventSchema },
      },
    },
    async (request, reply) => {
      const event = await events.get(request.caller.tenant, request.params.id);
      return sendJsonText(reply, eventToJson(event));
    },
  );
}
