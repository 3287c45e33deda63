import { listQuery, objectListPage, objectListSchema } from '@libs/http';
import Type from 'typebox';
import { idCursor, nullable, oneOfStrings, Timestamp } from '../api-schema.ts';
import type { Members } from '../people/members.ts';
import type { NamedPerson } from '../people/person.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { AuditEntry } from './entry.ts';
import type { AuditService } from './service.ts';

const cursor = idCursor('aud');

const EntrySchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('audit_entry'),
    at: Timestamp,
    user_id: Type.String({ description: 'Who did it; `operator` for whoever runs the service.' }),
    user_name: nullable(Type.String({ description: 'As it is now; also of somebody who has left.' })),
    user_email: nullable(Type.String()),
    action: Type.String({ examples: ['key.created'] }),
    target: nullable(Type.String({ description: 'The id of what it was about.' })),
    outcome: oneOfStrings(['success', 'refused', 'failure']),
    ip: nullable(Type.String()),
    request_id: Type.String(),
  },
  { title: 'AuditEntry' },
);

interface NamedEntry extends AuditEntry {
  person: NamedPerson | undefined;
}

function entryToApi(entry: NamedEntry) {
  return {
    id: entry.id,
    object: 'audit_entry' as const,
    at: entry.at.toISOString(),
    user_id: entry.userId,
    user_name: entry.person?.name ?? null,
    user_email: entry.person?.email ?? null,
    action: entry.action,
    target: entry.target,
    outcome: entry.outcome,
    ip: entry.ip,
    request_id: entry.requestId,
  };
}

export function registerAuditRoutes(
  routes: PaymentsRoutes,
  { audit, members }: { audit: Pick<AuditService, 'list'>; members: Pick<Members, 'namesOf'> },
): void {
  async function listNamed(query: Parameters<AuditService['list']>[0]): Promise<NamedEntry[]> {
    const entries = await audit.list(query);
    const names = await members.namesOf(entries.map(({ userId }) => userId));
    return entries.map((entry) => ({ ...entry, person: names.get(entry.userId) }));
  }

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
          listNamed({ organisationId: tenant.organisationId, before: from?.[0] ?? null, limit }),
        positionOf: ({ id }) => [id],
        show: entryToApi,
      }),
  );
}
