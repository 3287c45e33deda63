import { parseTenantId } from '../tenant.ts';
import type { PaymentsEvent } from './event.ts';

/** The event as the API shows it. The data is put in as it was stored, so that its bytes never change. */
export function eventToJson(event: PaymentsEvent): string {
  const { mode } = parseTenantId(event.tenantId);
  return (
    `{"id":"${event.id}","object":"event","type":"${event.type}","timestamp":"${event.occurredAt.toISOString()}",` +
    `"mode":"${mode}","created_at":"${event.createdAt.toISOString()}","data":${event.data}}`
  );
}

/** The body of a webhook. */
export function webhookBody(event: PaymentsEvent): string {
  const { mode } = parseTenantId(event.tenantId);
  return (
    `{"id":"${event.id}","type":"${event.type}","timestamp":"${event.occurredAt.toISOString()}",` +
    `"mode":"${mode}","data":${event.data}}`
  );
}
