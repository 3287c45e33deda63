import { setTimeout as sleep } from 'node:timers/promises';

/*
 * Clients that do what a client must: the same key until there is an answer, at whichever process answers. What they saw
 * accepted is a promise.
 */

export interface CarefulClients {
  /** Payments that a client saw accepted, by their idempotency key. */
  promised: ReadonlyMap<string, string>;
  /** Addresses that signed up, whose mail must come. */
  signedUp: ReadonlySet<string>;
  /** Answers that no client should get, whatever happens behind the service. */
  wrong: string[];
  stop(): Promise<void>;
}

export interface CarefulClientsOptions {
  urls: readonly string[];
  key: string;
  clients: number;
  /** Between two payments of one client. */
  pauseMs: number;
  random: () => number;
}

const PATIENCE_MS = 8_000;
const AGAIN_MS = 50;
/** Of what a client does, how much is a new account. */
const SIGN_UPS = 0.05;

export function startCarefulClients(options: CarefulClientsOptions): CarefulClients {
  const { urls, key, clients, pauseMs, random } = options;
  const promised = new Map<string, string>();
  const signedUp = new Set<string>();
  const wrong: string[] = [];
  let isStopping = false;
  let serial = 0;

  const post = async (path: string, body: object, headers: Record<string, string>) => {
    const url = urls[Math.floor(random() * urls.length)];
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return { status: response.status, body: (await response.json()) as { id?: string; code?: string } };
  };

  /** Until there is an answer that decides. */
  async function until(
    wanted: number,
    ask: () => ReturnType<typeof post>,
  ): Promise<{ id?: string; code?: string }> {
    for (;;) {
      const answer = await ask().catch(() => null);
      if (answer?.status === wanted) return answer.body;
      // In flight, too many at once, or something behind the service is broken: all of it may be tried again.
      const mayRepeat = answer === null || [409, 429].includes(answer.status) || answer.status >= 500;
      if (!mayRepeat) wrong.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      if (!mayRepeat) return {};
      await sleep(AGAIN_MS);
    }
  }

  async function pay(): Promise<void> {
    serial += 1;
    const idempotencyKey = `storm ${serial}`;
    const body = {
      ...{ amount: 1 + Math.floor(random() * 10_000), currency: 'USD', rail: random() < 0.7 ? 'rtp' : 'ach' },
      source: { payment_method_id: 'pm_alice' },
      destination: { payment_method_id: random() < 0.2 ? 'pm_test_rtp_reject_ac04' : 'pm_bob' },
    };
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': idempotencyKey };
    const { id } = await until(202, () => post('/v1/payments', body, headers));
    if (id) promised.set(idempotencyKey, id);
  }

  async function signUp(): Promise<void> {
    serial += 1;
    const email = `person${serial}@example.com`;
    const body = { email, password: 'correct horse battery', name: 'Ada', organisation: 'Acme' };
    const answer = await post('/v1/session/signup', body, {}).catch(() => null);
    if (answer?.status === 201) signedUp.add(email);
  }

  const working = Array.from({ length: clients }, async () => {
    while (!isStopping) {
      await (random() < SIGN_UPS ? signUp() : pay());
      await sleep(pauseMs);
    }
  });
  return {
    ...{ promised, signedUp, wrong },
    async stop() {
      isStopping = true;
      await Promise.all(working);
    },
  };
}
