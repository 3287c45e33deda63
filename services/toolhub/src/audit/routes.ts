import { cursorCodec, listQuery, listSchema, toPage } from '@libs/http';
import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { AuditEntry } from './entry.ts';
import type { AuditService } from './service.ts';

const nullableText = Type.Union([Type.String(), Type.Null()]);

const Entry = Type.Object({
  id: Type.String(),
  at: Type.String({ format: 'date-time' }),
  actor: Type.Object({ type: Type.String(), id: Type.String() }),
  action: Type.String(),
  target: nullableText,
  outcome: Type.String(),
  ip: nullableText,
  request_id: nullableText,
});

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

export function registerAuditRoutes(
  routes: ToolhubRoutes,
  deps: { audit: AuditService; access: Access },
): void {
  routes.get(
    '/api/audit',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        tags: ['Audit'],
        summary: 'What happened in this account, newest first',
        querystring: listQuery(),
        response: { 200: listSchema(Entry) },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const rows = await deps.audit.list({
        customerId: deps.access.sessionOf(request).customerId,
        before: cursor.decode(request.query.cursor)?.id,
        limit: limit + 1,
      });
      const page = toPage(rows, { limit, cursorOf: (last) => cursor.encode({ id: last.id }) });
      return { ...page, data: page.data.map(toApi) };
    },
  );
}
