import type { AuditedCall } from '@libs/http';

export interface AuditEntry {
  id: string;
  at: Date;
  organisationId: string | null;
  userId: string;
  action: string;
  target: string | null;
  outcome: AuditedCall['outcome'];
  ip: string | null;
  requestId: string;
}
