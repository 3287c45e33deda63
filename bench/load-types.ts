export interface Load {
  url: string;
  path: string;
  connections: number;
  seconds: number;
  warmupSeconds: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Sent anew with each request, or the same each time, or not at all. */
  idempotencyKey: 'fresh' | 'fixed' | 'none';
  expectStatus: number;
  /** How long a connection rests between two requests, in the middle; at once when absent. */
  pauseMs?: number;
}

export interface LoadReport {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  unexpected: number;
}
