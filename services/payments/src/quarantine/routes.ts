import {
  cursorCodec,
  listQuery,
  noteAudit,
  objectListPage,
  objectListSchema,
  storedMoment,
} from '@libs/http';
import Type from 'typebox';
import {
  closed,
  ID_LENGTH_MAX,
  idParams,
  ModeSchema,
  nullable,
  oneOfStrings,
  RailSchema,
  Timestamp,
} from '../api-schema.ts';
import { OPERATOR_BY_TOKEN } from '../keys/operator.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import { type ListedQuarantined, QUARANTINE_STATUSES } from './quarantine.ts';
import type { QuarantineResolving } from './resolving.ts';
import type { Quarantine } from './service.ts';

const Status = oneOfStrings(QUARANTINE_STATUSES);
const REASON_LENGTH_MAX = 500;

const fields = {
  id: Type.String(),
  object: Type.Literal('quarantined'),
  rail: RailSchema,
  mode: nullable(
    oneOfStrings(['test', 'live'], {
      description: 'In which it came; null where it was put aside before that was kept.',
    }),
  ),
  reason: Type.String({ description: 'Why nothing of it was applied.' }),
  received_at: Timestamp,
  status: Status,
  resolved_at: nullable(Timestamp),
  resolution: nullable(
    Type.String({ description: 'The payment that it was applied to, or why it was dismissed.' }),
  ),
  resolved_by: nullable(
    Type.String({
      description: 'The id of the person who did it; `admin_token` where it was done with the token.',
    }),
  ),
};

const example = {
  id: 'qua_01kaf3v6w8q2m5x9t7c4b1n0ze',
  object: 'quarantined',
  rail: 'ach',
  mode: 'live',
  reason: 'No entry of ours has this trace number.',
  received_at: '2026-11-16T15:04:05.000Z',
  status: 'open',
  resolved_at: null,
  resolution: null,
  resolved_by: null,
};
const Item = Type.Object(fields, { title: 'Quarantined', examples: [example] });
const WholeItem = Type.Object(
  {
    ...fields,
    content: Type.String({ description: 'The file or message exactly as it was received.' }),
  },
  { title: 'QuarantinedWithContent', examples: [{ ...example, content: '626…' }] },
);
const IdParams = idParams(example.id);

const cursor = cursorCodec(Type.Tuple([storedMoment(), Type.String({ maxLength: 64 })]));

export function registerQuarantineRoutes(
  routes: PaymentsRoutes,
  { quarantine, resolving }: { quarantine: Quarantine; resolving: QuarantineResolving },
): void {
  const shared = { tags: ['Admin'] };

  routes.get(
    '/v1/admin/quarantine',
    {
      access: 'operator',
      rate: 'operator',
      // Pages follow it by themselves, every few seconds; who reads what a message holds is written down.
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_quarantine',
        ...shared,
        summary: 'List what the networks sent that could not be believed',
        description: 'Newest first. Nothing of it was applied; the rest of its file was.',
        querystring: listQuery({
          ...{ rail: Type.Optional(RailSchema), mode: Type.Optional(ModeSchema) },
          status: Type.Optional(Status),
        }),
        response: { 200: objectListSchema(Item) },
      },
    },
    ({ query }) =>
      objectListPage(query, {
        cursor,
        async read({ from, limit }) {
          const found = await quarantine.list({
            ...{ rail: query.rail ?? null, mode: query.mode ?? null, status: query.status ?? null, limit },
            before: from ? { receivedAt: new Date(from[0]), id: from[1] } : null,
          });
          return found.map(toApi);
        },
        positionOf: ({ received_at, id }) => [received_at, id],
        show: (item) => item,
      }),
  );

  routes.get(
    '/v1/admin/quarantine/:id',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'quarantine.read', targetParam: 'id' },
      idempotency: 'safe',
      schema: {
        operationId: 'admin.get_quarantine',
        ...shared,
        summary: 'Read what was put aside',
        description: 'With its text exactly as it was received.',
        params: IdParams,
        response: { 200: WholeItem },
      },
    },
    async ({ params }) => {
      const { content, ...rest } = await quarantine.get(params.id);
      return { ...toApi(rest), content };
    },
  );

  routes.post(
    '/v1/admin/quarantine/:id/apply',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'quarantine.applied', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['payment_not_found', 'quarantine_not_applicable', 'state_conflict'],
      schema: {
        operationId: 'admin.apply_quarantine',
        ...shared,
        summary: 'Apply what was put aside to a payment',
        description: 'To the payment that it belongs to, as if the network had named it; once.',
        params: IdParams,
        body: Type.Object(
          {
            payment_id: Type.String({
              maxLength: ID_LENGTH_MAX,
              examples: ['pay_01kaf3v6w8q2m5x9t7c4b1n0ze'],
            }),
          },
          { ...closed, title: 'ApplyQuarantined' },
        ),
        response: { 200: Item },
      },
    },
    async (request, tx) => {
      const by = request.person?.userId ?? OPERATOR_BY_TOKEN;
      const applied = await resolving.apply(tx, request.params.id, request.body.payment_id, by);
      noteAudit(request, { organisations: [applied.organisationId] });
      return { status: 200, body: toApi(applied) };
    },
  );

  routes.post(
    '/v1/admin/quarantine/:id/dismiss',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'quarantine.dismissed', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['state_conflict'],
      schema: {
        operationId: 'admin.dismiss_quarantine',
        ...shared,
        summary: 'Say that what was put aside needs no more',
        description: 'It stays readable, with the reason.',
        params: IdParams,
        body: Type.Object(
          {
            reason: Type.String({
              minLength: 1,
              maxLength: REASON_LENGTH_MAX,
              pattern: '\\S',
              examples: ['Sent twice by the bank.'],
            }),
          },
          { ...closed, title: 'DismissQuarantined' },
        ),
        response: { 200: Item },
      },
    },
    async ({ params, body, person }, tx) => {
      const by = person?.userId ?? OPERATOR_BY_TOKEN;
      return { status: 200, body: toApi(await resolving.dismiss(tx, params.id, body.reason, by)) };
    },
  );
}

function toApi(item: ListedQuarantined) {
  const { id, rail, mode, reason, receivedAt, status, resolvedAt, resolution, resolvedBy } = item;
  return {
    id,
    object: 'quarantined' as const,
    rail,
    mode,
    reason,
    received_at: receivedAt.toISOString(),
    status,
    resolved_at: resolvedAt?.toISOString() ?? null,
    resolution,
    resolved_by: resolvedBy,
  };
}
