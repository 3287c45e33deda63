export interface RequestLog {
  id: string;
  request_id: string;
  method: string;
  path: string;
  query: string | null;
  status: number;
  duration_ms: number;
  created_at: string;
  key_id: string | null;
  user_id: string | null;
  ip: string;
  api_version: string;
  idempotency_key: string | null;
}

export interface RequestLogDetail extends RequestLog {
  request_body: unknown;
  request_bytes: number;
  response_body: unknown;
  response_bytes: number;
}

export const LOGS_PATH = '/v1/request_logs';

export function statusColor(status: number): string {
  if (status >= 500) return 'red';
  return status >= 400 ? 'orange' : 'brand';
}
