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
  /** Requests for a payment that had to be made again, by the process that was asked and what came instead of an answer. */
  repeated: { url: string; what: string }[];
  stop(): Promise<void>;
}

export interface CarefulClientsOptions {
  /** Read before every request: processes come and go. */
  urls: readonly string[];
  key: string;
  clients: number;
  /** Between two payments of one client. */
  pauseMs: number;
  random: () => number;
  /** Of what a client does, how much is a new account. */
  signUps?: number;
  /** Of the payments, how many go by ACH. */
  ach?: number;
}

const PATIENCE_MS = 8_000;
const AGAIN_MS = 50;
const SIGN_UPS = 0.05;
const ACH = 0.3;

export function startCarefulClients(options: CarefulClientsOptions): CarefulClients {
  const { urls, key, clients, pauseMs, random, signUps = SIGN_UPS, ach = ACH } = options;
  const promised = new Map<string, string>();
  const signedUp = new Set<string>();
  const wrong: string[] = [];
  const repeated: CarefulClients['repeated'] = [];
  let isStopping = false;
  let serial = 0;

  const anyProcess = () => urls[Math.floor(random() * urls.length)] as string;

  const post = async (url: string, path: string, body: object, headers: Record<string, string>) => {
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
    ask: (url: string) => ReturnType<typeof post>,
  ): Promise<{ id?: string; code?: string }> {
    for (;;) {
      const url = anyProcess();
      const answer = await ask(url).catch((error: Error) => {
        repeated.push({ url, what: String(error.cause ?? error) });
        return null;
      });
      if (answer?.status === wanted) return answer.body;
      // In flight, too many at once, or something behind the service is broken: all of it may be tried again.
      const mayRepeat = answer === null || [409, 429].includes(answer.status) || answer.status >= 500;
      if (!mayRepeat) wrong.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      if (!mayRepeat) return {};
      if (answer !== null) repeated.push({ url, what: `${answer.status} ${answer.body.code}` });
      await sleep(AGAIN_MS);
    }
  }

  async function pay(): Promise<void> {
    serial += 1;
    const idempotencyKey = `storm ${serial}`;
    const body = {
      ...{ amount: 1 + Math.floor(random() * 10_000), currency: 'USD', rail: random() < ach ? 'ach' : 'rtp' },
      source: { payment_method_id: 'pm_alice' },
      destination: { payment_method_id: random() < 0.2 ? 'pm_test_rtp_reject_ac04' : 'pm_bob' },
    };
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': idempotencyKey };
    const { id } = await until(202, (url) => post(url, '/v1/payments', body, headers));
    if (id) promised.set(idempotencyKey, id);
  }

  async function signUp(): Promise<void> {
    serial += 1;
    const email = `person${serial}@example.com`;
    const body = { email, password: 'correct horse battery', name: 'Ada', organisation: 'Acme' };
    const answer = await post(anyProcess(), '/v1/session/signup', body, {}).catch(() => null);
    if (answer?.status === 201) signedUp.add(email);
  }

  const working = Array.from({ length: clients }, async () => {
    while (!isStopping) {
      await (random() < signUps ? signUp() : pay());
      await sleep(pauseMs);
    }
  });
  return {
    ...{ promised, signedUp, wrong, repeated },
    async stop() {
      isStopping = true;
      await Promise.all(working);
    },
  };
}
