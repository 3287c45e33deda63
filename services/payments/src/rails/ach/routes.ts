import { listQuery, objectListPage, objectListSchema } from '@libs/http';
import Type from 'typebox';
import {
  closed,
  idCursor,
  idParams,
  ModeSchema,
  nullable,
  oneOfStrings,
  Timestamp,
} from '../../api-schema.ts';
import type { PaymentsRoutes } from '../../route-rules.ts';
import { modeOfScope } from './entries/scope.ts';
import type { AchFiles } from './files.ts';
import { FILE_STATUSES, type ListedFile } from './outgoing/listed-file.ts';

const REASON_LENGTH_MAX = 500;

const example = {
  id: 'achf_01kaf3v6w8q2m5x9t7c4b1n0ze',
  object: 'ach_file',
  name: '20261116-1030-1.ach',
  mode: 'live',
  status: FILE_STATUSES[0],
  entries: 2,
  debit_total: 1000,
  credit_total: 1000,
  left_at: '2026-11-16T15:30:00.000Z',
  sent_at: '2026-11-16T15:30:02.000Z',
  rejection: null,
};

const File = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('ach_file'),
    name: Type.String(),
    mode: ModeSchema,
    status: oneOfStrings(FILE_STATUSES),
    entries: Type.Integer(),
    debit_total: Type.Integer(),
    credit_total: Type.Integer(),
    left_at: Timestamp,
    sent_at: nullable(Timestamp),
    rejection: nullable(Type.String({ description: 'Why the bank took nothing of it.' })),
  },
  { title: 'AchFile', examples: [example] },
);

const Rejection = Type.Object(
  {
    reason: Type.String({ minLength: 1, maxLength: REASON_LENGTH_MAX, pattern: '\\S' }),
    resend: Type.Boolean({ description: 'Whether its entries leave in the next file, or fail.' }),
  },
  {
    ...closed,
    title: 'RejectAchFile',
    examples: [{ reason: 'Refused by the bank: wrong immediate origin.', resend: true }],
  },
);

const cursor = idCursor('ach');

export function registerAchRoutes(routes: PaymentsRoutes, files: AchFiles): void {
  routes.get(
    '/v1/admin/ach_files',
    {
      access: 'operator',
      rate: 'operator',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_ach_files',
        tags: ['Admin'],
        summary: 'List the ACH files that left',
        description: 'Newest first, with their totals and states.',
        querystring: listQuery({
          status: Type.Optional(oneOfStrings(FILE_STATUSES)),
          date: Type.Optional(
            Type.String({ format: 'date', description: 'The day in New York on which they left.' }),
          ),
        }),
        response: { 200: objectListSchema(File) },
      },
    },
    ({ query }) =>
      objectListPage(query, {
        cursor,
        read: ({ from, limit }) =>
          files.list({
            ...{ status: query.status ?? null, date: query.date ?? null },
            ...{ beforeId: from?.[0] ?? null, limit },
          }),
        positionOf: ({ id }) => [id],
        show: toApi,
      }),
  );

  routes.post(
    '/v1/admin/ach_files/:id/reject',
    {
      access: 'operator',
      rate: 'operator',
      audit: { action: 'ach_file.rejected', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['state_conflict'],
      schema: {
        operationId: 'admin.reject_ach_file',
        tags: ['Admin'],
        summary: 'Tell that the bank refused a file',
        description: 'None of its payments settles by it: its entries leave in the next file, or fail.',
        params: idParams(example.id),
        body: Rejection,
        response: {
          200: Type.Object(
            { id: Type.String(), object: Type.Literal('ach_file'), status: Type.Literal('rejected') },
            {
              title: 'RejectedAchFile',
              examples: [{ id: example.id, object: 'ach_file', status: 'rejected' }],
            },
          ),
        },
      },
    },
    async ({ params, body }, tx) => {
      await files.reject(tx, params.id, body);
      return { status: 200, body: { id: params.id, object: 'ach_file', status: 'rejected' } };
    },
  );
}

function toApi({
  id,
  scope,
  name,
  status,
  entries,
  debitTotal,
  creditTotal,
  asOf,
  sentAt,
  rejection,
}: ListedFile) {
  return {
    id,
    object: 'ach_file' as const,
    name,
    mode: modeOfScope(scope),
    status,
    entries,
    debit_total: debitTotal,
    credit_total: creditTotal,
    left_at: asOf.toISOString(),
    sent_at: sentAt?.toISOString() ?? null,
    rejection,
  };
}
