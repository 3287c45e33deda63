import { withCpu } from '../cpu.ts';
import { type Load, type LoadReport, measured, warmUp } from '../load.ts';

const CONNECTIONS = 64;
const SECONDS = 3;
const WARMUP_SECONDS = 3;

function bodyFor(rail: 'auto' | 'rtp'): string {
  return JSON.stringify({
    amount: 2_500,
    currency: 'USD',
    source: { payment_method_id: 'pm_alice' },
    destination: { payment_method_id: 'pm_bob' },
    rail,
  });
}

export const rtpBody = bodyFor('rtp');

/** Payments as fast as they are accepted. */
export function acceptLoad(url: string, more: Partial<Load> = {}): Load {
  return {
    url,
    path: '/v1/payments',
    connections: CONNECTIONS,
    seconds: SECONDS,
    warmupSeconds: WARMUP_SECONDS,
    headers: { authorization: 'Bearer sk_test_sandbox', 'content-type': 'application/json' },
    body: bodyFor('auto'),
    idempotencyKey: 'fresh',
    expectStatus: 202,
    ...more,
  };
}

/** Accepting alone: the process takes requests, and no worker shares its core. */
export const apiOnly = { PAYMENTS_ROLE: 'api', PAYMENTS_RATE_TEST: '0', PAYMENTS_LOG_LEVEL: 'error' };

export interface Cost extends LoadReport {
  /** Processor time per request, of all processes that were named. */
  cpuMicroseconds: number;
}

/** The same load at once on all of these, and what it costs the processes that serve it. */
export async function costOf(loads: readonly Load[], pids: readonly number[]): Promise<Cost> {
  await Promise.all(loads.map(warmUp));
  const { result, seconds } = await withCpu(pids, () => Promise.all(loads.map(measured)));
  const requests = result.reduce((sum, report) => sum + report.requests, 0);
  return {
    requests,
    perSecond: result.reduce((sum, report) => sum + report.perSecond, 0),
    p50Ms: Math.max(...result.map((report) => report.p50Ms)),
    p99Ms: Math.max(...result.map((report) => report.p99Ms)),
    unexpected: 0,
    cpuMicroseconds: (seconds / requests) * 1e6,
  };
}
