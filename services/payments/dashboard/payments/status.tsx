import { Badge } from '@mantine/core';
import type { PaymentStatus, Rail } from '../api/types.ts';
import { texts } from '../texts.ts';

export const statusColors: Record<PaymentStatus, string> = {
  pending: 'gray',
  processing: 'blue',
  completed: 'brand',
  failed: 'red',
  canceled: 'gray',
  returned: 'orange',
};

export function PaymentStatusBadge({ status }: { status: PaymentStatus }) {
  return <Badge color={statusColors[status]}>{texts.statuses[status]}</Badge>;
}

export function RailName({ rail }: { rail: Rail }) {
  return <abbr title={texts.railHints[rail]}>{texts.rails[rail]}</abbr>;
}
