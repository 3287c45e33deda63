import type { AuditedCall } from '@libs/http';

/** Who did it where the operator did: which person that was is the operator's own affair, as is the address. */
export const BY_OPERATOR = { userId: 'operator', ip: null } as const;

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
