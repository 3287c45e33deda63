import { listQuery, objectListPage, objectListSchema } from '@libs/http';
import Type from 'typebox';
import { idCursor, nullable, oneOfStrings, Timestamp } from '../api-schema.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { AuditEntry } from './entry.ts';
import type { AuditService } from './service.ts';

const cursor = idCursor('aud');

const EntrySchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('audit_entry'),
    at: Timestamp,
    user_id: Type.String({ description: 'Who did it.' }),
    action: Type.String({ examples: ['key.created'] }),
    target: nullable(Type.String({ description: 'The id of what it was about.' })),
    outcome: oneOfStrings(['success', 'refused', 'failure']),
    ip: nullable(Type.String()),
    request_id: Type.String(),
  },
  { title: 'AuditEntry' },
);

function entryToApi(entry: AuditEntry) {
  return {
    id: entry.id,
    object: 'audit_entry' as const,
    at: entry.at.toISOString(),
    user_id: entry.userId,
    action: entry.action,
    target: entry.target,
    outcome: entry.outcome,
    ip: entry.ip,
    request_id: entry.requestId,
  };
}

export function registerAuditRoutes(
  routes: PaymentsRoutes,
  { audit }: { audit: Pick<AuditService, 'list'> },
): void {
  routes.get(
    '/v1/audit',
    {
      access: 'owner',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'audit.list',
        tags: ['Team'],
        summary: 'List what people did',
        description: 'In this organisation, in both modes, newest first; refusals too. Kept for a year.',
        querystring: listQuery(),
        response: { 200: objectListSchema(EntrySchema) },
      },
    },
    ({ query, caller: { tenant } }) =>
      objectListPage(query, {
        cursor,
        read: ({ from, limit }) =>
          audit.list({ organisationId: tenant.organisationId, before: from?.[0] ?? null, limit }),
        positionOf: ({ id }) => [id],
        show: entryToApi,
      }),
  );
}
