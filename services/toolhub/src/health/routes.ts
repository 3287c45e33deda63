import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { HEALTH_STATUSES } from './report.ts';
import type { Health } from './service.ts';

export interface HealthRoutesDependencies {
  health: Health;
  access: Pick<Access, 'sessionIfAny'>;
}

const nullableText = Type.Union([Type.String(), Type.Null()]);

const Report = Type.Object(
  {
    checked_at: Type.String({ format: 'date-time' }),
    cached: Type.Boolean({ description: 'Whether this was found out for an earlier call.' }),
    platforms: Type.Array(
      Type.Object({
        platform: Type.String(),
        status: Type.Enum([...HEALTH_STATUSES], { type: 'string' }),
        token_expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
        latency_ms: Type.Union([Type.Integer(), Type.Null()]),
        message: nullableText,
      }),
    ),
  },
  {
    title: 'PlatformHealth',
    examples: [
      {
        checked_at: '2026-11-16T15:04:05.000Z',
        cached: true,
        platforms: [
          { platform: 'slack', status: 'ok', token_expires_at: null, latency_ms: 120, message: null },
        ],
      },
    ],
  },
);

export function registerHealthRoutes(
  routes: ToolhubRoutes,
  { health, access }: HealthRoutesDependencies,
): void {
  routes.get(
    '/api/health/platforms',
    {
      access: 'anyone',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      codes: ['not_ready'],
      schema: {
        operationId: 'health.platforms',
        tags: ['Health'],
        summary: 'How the platforms are',
        description:
          "With a customer's token or cookie: that customer's accounts. Without: the platforms as such. Kept for 10 minutes.",
        security: [{ bearer: [] }, {}],
        response: { 200: Report },
      },
    },
    async (request) => {
      const session = access.sessionIfAny(request);
      const { report, cached } = await (session === undefined
        ? health.forPlatforms()
        : health.forCustomer(session.customerId));
      return { checked_at: report.checkedAt.toISOString(), cached, platforms: [...report.platforms] };
    },
  );
}
