import { Badge } from '@mantine/core';
import { texts } from '../texts.ts';

export type Outcome = 'success' | 'failure' | 'refused';

export interface AuditEntry {
  id: string;
  at: string;
  actor: { type: string; id: string; name?: string };
  action: string;
  target: string | null;
  outcome: Outcome;
  ip: string | null;
  request_id: string | null;
}

const colors: Record<Outcome, string> = { success: 'teal', failure: 'red', refused: 'orange' };

export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return <Badge color={colors[outcome]}>{texts.audit.outcomes[outcome]}</Badge>;
}
