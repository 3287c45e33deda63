import { isoTime } from '../clock/iso-time.ts';
import { parseTenantId } from '../tenant.ts';
import type { PaymentsEvent, ToldEvent } from './event.ts';

/** The event as the API shows it. The data is put in as it was stored, so that its bytes never change. */
export function eventToJson(event: PaymentsEvent): string {
  const { mode } = parseTenantId(event.tenantId);
  return (
    `{"id":"${event.id}","object":"event","type":"${event.type}","timestamp":"${isoTime(event.occurredAt)}",` +
    `"mode":"${mode}","created_at":"${isoTime(event.createdAt)}","data":${event.data}}`
  );
}

export function webhookBody(event: ToldEvent): string {
  const { mode } = parseTenantId(event.tenantId);
  return (
    `{"id":"${event.id}","type":"${event.type}","timestamp":"${isoTime(event.occurredAt)}",` +
    `"mode":"${mode}","data":${event.data}}`
  );
}
