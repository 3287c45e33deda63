import { sendParts } from '@libs/http';
import type { Access } from '../customers/access.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { ExportSection } from './section.ts';
import { exportJson } from './write.ts';

export interface ExportRoutesDependencies {
  sections: readonly ExportSection[];
  access: Pick<Access, 'sessionOf'>;
  now: () => Date;
}

const accountExport = {
  title: 'AccountExport',
  description: 'The file: one field for each kind of thing, a list of records or one record.',
  type: 'object',
  additionalProperties: true,
  required: ['exported_at', 'cut_off'],
  properties: {
    exported_at: { type: 'string', format: 'date-time', description: 'When it was written.' },
    cut_off: { type: 'array', items: { type: 'string' }, description: 'Lists that had more rows.' },
  },
} as const;

export function registerExportRoutes(
  routes: ToolhubRoutes,
  { sections, access, now }: ExportRoutesDependencies,
): void {
  routes.get(
    '/api/export',
    {
      access: 'person',
      rate: 'dear',
      audit: { action: 'account.exported' },
      idempotency: 'safe',
      schema: {
        operationId: 'account.export',
        tags: ['Account'],
        summary: 'Everything of the account in one file',
        description:
          'Profile, connections, tokens, usage, invoices, webhooks, received messages, the log and the rest, without any secret. Lists end after 100,000 rows; `cut_off` names those that did.',
        produces: {
          type: 'application/json',
          description: 'The file.',
          schema: accountExport,
          example: {
            exported_at: '2026-11-16T15:04:05.000Z',
            profile: { email: 'ada@example.com' },
            tokens: [],
            cut_off: [],
          },
        },
      },
    },
    (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const at = now();
      reply
        .type('application/json; charset=utf-8')
        .header('content-disposition', `attachment; filename="toolhub-${at.toISOString().slice(0, 10)}.json"`)
        .header('cache-control', 'private, no-store');
      return sendParts(reply, exportJson(sections, { customerId, at }));
    },
  );
}
