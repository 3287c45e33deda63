import type { EventType } from '../api/types.ts';

export interface PaymentsEvent {
  id: string;
  type: EventType;
  timestamp: string;
  created_at: string;
  data: { id?: string; object?: string };
}
