// Payments as careful clients send them, and what each of them was told.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '@libs/db';

const KEY = 'sk_test_sandbox';

export interface Promised {
  id: string;
  key: string;
  answeredAtMs: number;
}

export interface Load {
  promised: readonly Promised[];
  /** Requests that were not answered by 202. */
  failures: readonly string[];
  stop(): Promise<void>;
}

export async function callPayments(
  url: string,
  method: string,
  path: string,
  { body, key }: { body?: object; key?: string } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${KEY}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const ORDER = {
  amount: 2_500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  rail: 'rtp',
};

export interface LoadOptions {
  /** Asked before every request; they are used in turn. */
  servers: () => readonly string[];
  clients: number;
  /** Between two payments of one client. Everything that is sent has to be completed, too, before a test ends. */
  pauseMs: number;
}

/** Each client sends one payment after the other. */
export function startLoad({ servers, clients, pauseMs }: LoadOptions): Load {
  const promised: Promised[] = [];
  const failures: string[] = [];
  let isStopped = false;
  let turn = 0;

  async function send(): Promise<void> {
    const urls = servers();
    turn += 1;
    const key = randomUUID();
    try {
      const url = urls[turn % urls.length] as string;
      const { status, body } = await callPayments(url, 'POST', '/v1/payments', { body: ORDER, key });
      if (status === 202) promised.push({ id: String(body.id), key, answeredAtMs: Date.now() });
      else failures.push(`${status} ${body.code}`);
    } catch (error) {
      failures.push(String((error as Error).cause ?? error));
    }
  }

  const running = Array.from({ length: clients }, async () => {
    while (!isStopped) {
      await send();
      await sleep(pauseMs);
    }
  });
  return {
    promised,
    failures,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

/** What became of the payments: how many are there, and how many have come to their end. */
export async function fateOf(
  database: Queryable,
  promised: readonly Promised[],
): Promise<{ present: number; completed: number }> {
  const { rows } = await database.query<{ present: number; completed: number }>(
    `select count(*)::int as present, (count(*) filter (where status = 'completed'))::int as completed
     from payments.payments where id = any($1)`,
    [promised.map(({ id }) => id)],
  );
  return rows[0] ?? { present: 0, completed: 0 };
}
