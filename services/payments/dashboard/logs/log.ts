export interface RequestLog {
  id: string;
  method: string;
  path: string;
  status: number;
  duration_ms: number;
  created_at: string;
  key_id?: string | null;
  user_id?: string | null;
  request_body?: unknown;
  response_body?: unknown;
}

export const LOGS_PATH = '/v1/request_logs';

export function statusColor(status: number): string {
  if (status >= 500) return 'red';
  return status >= 400 ? 'orange' : 'brand';
}
