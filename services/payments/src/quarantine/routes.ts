import { cursorCodec, listQuery, objectListSchema, toPage } from '@libs/http';
import Type from 'typebox';
import { IdParams, oneOfStrings, Timestamp } from '../api-schema.ts';
import { RAIL_IDS } from '../rails/rail-ids.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Quarantined } from './quarantine.ts';
import type { Quarantine } from './service.ts';

const Rail = oneOfStrings(RAIL_IDS);

const fields = {
  id: Type.String(),
  object: Type.Literal('quarantined'),
  rail: Rail,
  reason: Type.String({ description: 'Why nothing of it was applied.' }),
  received_at: Timestamp,
};

const Item = Type.Object(fields, { title: 'Quarantined' });
const WholeItem = Type.Object({
  ...fields,
  content: Type.String({ description: 'The file or message exactly as it was received.' }),
});

const cursor = cursorCodec(
  Type.Tuple([Type.String({ format: 'date-time', maxLength: 64 }), Type.String({ maxLength: 64 })]),
);

export function registerQuarantineRoutes(routes: PaymentsRoutes, quarantine: Quarantine): void {
  const shared = { tags: ['Admin'] };

  routes.get(
    '/v1/admin/quarantine',
    {
      access: 'operator',
      rate: 'none',
      audit: { action: 'quarantine.listed' },
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_quarantine',
        ...shared,
        summary: 'List what the networks sent that could not be believed, newest first',
        querystring: listQuery({ rail: Type.Optional(Rail) }),
        response: { 200: objectListSchema(Item) },
      },
    },
    async ({ query }) => {
      const last = cursor.decode(query.cursor);
      const found = await quarantine.list({
        rail: query.rail ?? null,
        before: last ? { receivedAt: new Date(last[0]), id: last[1] } : null,
        limit: query.limit + 1,
      });
      const page = toPage(found.map(toApi), {
        limit: query.limit,
        cursorOf: ({ received_at, id }) => cursor.encode([received_at, id]),
      });
      return { object: 'list' as const, ...page };
    },
  );

  routes.get(
    '/v1/admin/quarantine/:id',
    {
      access: 'operator',
      rate: 'none',
      audit: { action: 'quarantine.read', targetParam: 'id' },
      idempotency: 'safe',
      schema: {
        operationId: 'admin.get_quarantine',
        ...shared,
        summary: 'Read a file or message that was put aside',
        params: IdParams,
        response: { 200: WholeItem },
      },
    },
    async ({ params }) => {
      const { content, ...rest } = await quarantine.get(params.id);
      return { ...toApi(rest), content };
    },
  );
}

function toApi({ id, rail, reason, receivedAt }: Quarantined) {
  return { id, object: 'quarantined' as const, rail, reason, received_at: receivedAt.toISOString() };
}
