// Declared routes as the service has them, without limits, and with callers that a test names.
import { RateLimits } from '@libs/http';
import type { FastifyRequest } from 'fastify';
import type { NewAuditEntry } from '../src/audit/entry.ts';
import type { Session } from '../src/customers/identity.ts';
import { createToolhubRoutes, type RoutesOn } from '../src/route-rules.ts';

export function openRoutes(
  options: {
    sessionOf?: (request: FastifyRequest) => Session;
    record?: (entries: readonly NewAuditEntry[]) => void;
  } = {},
): RoutesOn {
  const rates = new RateLimits();
  return createToolhubRoutes({
    rates,
    config: { rate: { callsPerSecond: 0, apiPerSecond: 0, addressPerMinute: 0 } },
    access: {
      identify: () => null,
      permit: () => null,
      callerOf: (request) => options.sessionOf?.(request),
    },
    audit: { record: async (entries) => options.record?.(entries) },
    addressLimit: rates.limit({ name: 'address', limit: 0 }),
  });
}
