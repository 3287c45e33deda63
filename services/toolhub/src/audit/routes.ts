import { cursorCodec, listQuery, listSchema, sendParts } from '@libs/http';
import { newId } from '@libs/seal';
import Type, { type Static } from 'typebox';
import type { Access } from '../customers/access.ts';
import { queryDay } from '../query-day.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { type AuditEntry, OUTCOMES } from './entry.ts';
import { auditCsv } from './export.ts';
import type { AuditService, EntryFilter } from './service.ts';

const nullableText = Type.Union([Type.String(), Type.Null()]);
const TEXT_LENGTH_MAX = 200;

const Entry = Type.Object(
  {
    id: Type.String(),
    at: Type.String({ format: 'date-time' }),
    actor: Type.Object({
      type: Type.String(),
      id: Type.String(),
      name: Type.Optional(
        Type.String({ description: 'What an assistant called itself. Nobody vouches for it.' }),
      ),
    }),
    action: Type.String(),
    target: nullableText,
    outcome: Type.String(),
    ip: nullableText,
    request_id: nullableText,
  },
  {
    title: 'AuditEntry',
    examples: [
      {
        id: 'aud_01kaf3v6w8q2m5x9t7c4b1n0ze',
        at: '2026-11-16T15:04:05.000Z',
        actor: { type: 'customer', id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze' },
        action: 'token.created',
        target: 'tok_01kaf3v6w8q2m5x9t7c4b1n0ze',
        outcome: 'success',
        ip: '203.0.113.7',
        request_id: 'req_frGcOXLilyq13H7K00001',
      },
    ],
  },
);

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX, description }));

const filters = {
  actor: text('Who did it: the id of a customer, token or client.'),
  action: text('Such as `tool.call`.'),
  target: text('What it was done to: the name of a tool, the id of a token.'),
  outcome: Type.Optional(Type.Union(OUTCOMES.map((outcome) => Type.Literal(outcome)))),
  from: queryDay(),
  to: queryDay('A UTC date; what happened on it is left out.'),
};
const Filters = Type.Object(filters, { additionalProperties: false });

const cursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^aud_[0-9a-z]{26}$' }) }));

function toApi(entry: AuditEntry) {
  return {
    id: entry.id,
    at: entry.at.toISOString(),
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    outcome: entry.outcome,
    ip: entry.ip,
    request_id: entry.requestId,
  };
}

/** Ids sort by their time, so a day is a range of ids. */
function firstIdOf(day: string | undefined): string | null {
  return day === undefined ? null : newId('aud', Date.parse(day), (bytes) => Buffer.alloc(bytes));
}

function fromApi(query: Static<typeof Filters>): EntryFilter {
  const { actor = null, action = null, target = null, outcome = null, from, to } = query;
  return { actor, action, target, outcome, since: firstIdOf(from), before: firstIdOf(to) };
}

export function registerAuditRoutes(
  routes: ToolhubRoutes,
  deps: { audit: AuditService; access: Access },
): void {
  const { audit, access } = deps;
  routes.get(
    '/api/audit',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'audit.list',
        tags: ['Audit'],
        summary: 'What happened in this account',
        description:
          'Newest first: who did what, when, from where, and how it ended. Never a secret or the text of a message. With filters, a page may hold fewer entries than `limit`, or none, while `next_cursor` says that there are more to look through.',
        querystring: listQuery(filters),
        response: { 200: listSchema(Entry) },
      },
    },
    async (request) => {
      const { limit, cursor: position, ...query } = request.query;
      const filter = fromApi(query);
      const { entries, next } = await audit.list({
        ...filter,
        customerId: access.sessionOf(request).customerId,
        before: cursor.decode(position)?.id ?? filter.before,
        limit,
      });
      return { data: entries.map(toApi), next_cursor: next === null ? null : cursor.encode({ id: next }) };
    },
  );

  routes.get(
    '/api/audit/export',
    {
      access: 'account:read',
      rate: 'dear',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'audit.export',
        tags: ['Audit'],
        summary: 'The log as CSV',
        produces: {
          type: 'text/csv',
          description: 'A line per entry.',
          example: 'id,at,actor_type,actor_id,action,target,outcome,ip,request_id\r\n',
        },
        description: 'Newest first, at most 100,000 lines: a range of days reaches what lies behind.',
        querystring: Filters,
      },
    },
    (request, reply) => {
      const { customerId } = access.sessionOf(request);
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="audit.csv"');
      return sendParts(reply, auditCsv(audit, { ...fromApi(request.query), customerId }));
    },
  );
}
