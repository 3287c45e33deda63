import { cursorCodec, listPage, listQuery, listSchema } from '@libs/http';
import Type, { type Static } from 'typebox';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { FailedJob, JobSummary } from './overview.ts';
import type { AdminService } from './service.ts';

const moment = Type.String({ format: 'date-time' });
const textOrNull = Type.Union([Type.String(), Type.Null()]);

const JobSchema = Type.Object(
  {
    name: Type.String(),
    due: Type.Integer({ description: 'Waiting now, or being worked on.' }),
    scheduled: Type.Integer({ description: 'For a later time.' }),
    failed: Type.Integer({ description: 'Given up after all tries.' }),
    attempts_max: Type.Integer({ description: 'The most tries of any.' }),
    next_run_at: Type.Union([moment, Type.Null()]),
    last_error: textOrNull,
  },
  {
    title: 'JobSummary',
    examples: [
      {
        ...{ name: 'webhooks.deliver', due: 0, scheduled: 2, failed: 0, attempts_max: 1 },
        next_run_at: '2026-11-16T15:04:05.000Z',
        last_error: null,
      },
    ],
  },
);

const FailedJobSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    attempts: Type.Integer(),
    failed_at: moment,
    last_error: textOrNull,
  },
  {
    title: 'FailedJob',
    examples: [
      {
        ...{ id: 17, name: 'mail.send', attempts: 25, last_error: 'connection refused' },
        failed_at: '2026-11-16T15:04:05.000Z',
      },
    ],
  },
);

const jobCursor = cursorCodec(Type.Object({ id: Type.Integer({ minimum: 1 }) }));

export function registerJobRoutes(routes: ToolhubRoutes, { admin }: { admin: AdminService }): void {
  routes.get(
    '/api/admin/jobs',
    {
      access: 'admin',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_jobs',
        tags: ['Admin'],
        summary: 'What waits, runs and failed in the background',
        description: 'By kind of work.',
        response: { 200: Type.Object({ data: Type.Array(JobSchema) }, { title: 'JobSummaryList' }) },
      },
    },
    async () => ({ data: (await admin.jobs()).map(toApiJob) }),
  );
  routes.get(
    '/api/admin/jobs/failed',
    {
      access: 'admin',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_failed_jobs',
        tags: ['Admin'],
        summary: 'Jobs that were given up',
        description: 'Newest first, each with its last error.',
        querystring: listQuery(),
        response: { 200: listSchema(FailedJobSchema) },
      },
    },
    ({ query }) =>
      listPage(query, {
        cursor: jobCursor,
        read: ({ from, limit }) => admin.failedJobs({ before: from?.id, limit }),
        positionOf: ({ id }) => ({ id }),
        show: toApiFailedJob,
      }),
  );
  routes.post(
    '/api/admin/jobs/:id/retry',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'job.retried', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'admin.retry_job',
        tags: ['Admin'],
        summary: 'Try a job again that was given up',
        description: 'It begins anew at once, with all its tries.',
        params: Type.Object({
          id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [17] }),
        }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await admin.retryJob(request.params.id);
      return reply.code(204).send(null);
    },
  );
}

function toApiJob(job: JobSummary): Static<typeof JobSchema> {
  return {
    name: job.name,
    due: job.due,
    scheduled: job.scheduled,
    failed: job.failed,
    attempts_max: job.attemptsMax,
    next_run_at: job.nextRunAt?.toISOString() ?? null,
    last_error: job.lastError,
  };
}

function toApiFailedJob(job: FailedJob): Static<typeof FailedJobSchema> {
  return {
    id: job.id,
    name: job.name,
    attempts: job.attempts,
    failed_at: job.failedAt.toISOString(),
    last_error: job.lastError,
  };
}
