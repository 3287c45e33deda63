// The limit over one and several processes. Time is a number here, and the shared store is in memory.
import { createOutage, type Outage } from '@libs/runtime';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestApp } from '../../test/test-app.ts';
import { type RateDecision, type RateDelta, RateLimits, type RateStore } from '../index.ts';

type Clock = { ms: number };

/** The same arithmetic as the SQL, for processes that share one clock. */
class SharedStore implements RateStore {
  readonly buckets = new Map<string, { tokens: number; atMs: number }>();
  readonly seen = new Set<string>();
  syncs = 0;
  down = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async sync(processId: string, deltas: readonly RateDelta[]) {
    this.syncs++;
    if (this.down) throw new Error('the store is down');
    const keys = new Set(deltas.map(({ key }) => key));
    if (keys.size < deltas.length) throw new Error('a statement cannot touch a row twice');
    this.seen.add(processId);
    const levels = new Map<string, number>();
    for (const { key, used, ratePerSecond, burst } of deltas) {
      const bucket = this.buckets.get(key) ?? { tokens: burst, atMs: this.#clock.ms };
      const gained = ((this.#clock.ms - bucket.atMs) / 1000) * ratePerSecond;
      const tokens = Math.max(-burst, Math.min(burst, bucket.tokens + gained) - used);
      this.buckets.set(key, { tokens, atMs: this.#clock.ms });
      levels.set(key, tokens);
    }
    return { levels, processes: this.seen.size };
  }
}

/** Charges at once, and says so later. */
class SlowStore extends SharedStore {
  answersAfterMs = 0;

  override async sync(processId: string, deltas: readonly RateDelta[]) {
    const answer = await super.sync(processId, deltas);
    await new Promise((resolve) => setTimeout(resolve, this.answersAfterMs));
    return answer;
  }
}

const running: RateLimits[] = [];
afterEach(async () => {
  for (const limits of running.splice(0)) await limits.close();
});

async function start(options: { clock: Clock; store?: RateStore; outage?: Outage }): Promise<RateLimits> {
  const { clock, store, outage } = options;
  const limits = new RateLimits({
    nowMs: () => clock.ms,
    processId: `process-${running.length}`,
    ...(store ? { store } : {}),
    ...(outage ? { outage } : {}),
  });
  running.push(limits);
  await limits.start();
  return limits;
}

async function count(take: () => RateDecision | Promise<RateDecision>, times: number): Promise<number> {
  const decisions = await Promise.all(Array.from({ length: times }, () => take()));
  return decisions.filter((decision) => decision.allowed).length;
}

describe('one process', () => {
  test('allows the burst at once, then the rate, and says when to come back', async () => {
    const clock = { ms: 0 };
    const limit = (await start({ clock })).limit({ name: 'default', limit: 25 });
    expect(await count(() => limit.take('a'), 60)).toBe(50);
    expect(limit.take('a')).toEqual({ allowed: false, remaining: 0, retryAfterSeconds: 1 });
    clock.ms += 200;
    expect(await count(() => limit.take('a'), 60)).toBe(5);
    clock.ms += 60_000;
    expect(await count(() => limit.take('a'), 60)).toBe(50);
    expect(await count(() => limit.take('b'), 60)).toBe(50);
  });

  test('windows of a minute', async () => {
    const clock = { ms: 0 };
    const limit = (await start({ clock })).limit({
      name: 'address',
      limit: 30,
      windowSeconds: 60,
      burst: 30,
    });
    expect(await count(() => limit.take('a'), 40)).toBe(30);
    expect(limit.take('a')).toMatchObject({ allowed: false, retryAfterSeconds: 2 });
    clock.ms += 2_000;
    expect(await count(() => limit.take('a'), 5)).toBe(1);
  });

  test('never more than rate × time + burst, whatever the pattern', async () => {
    const clock = { ms: 0 };
    const limits = await start({ clock });
    let run = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(500), fc.nat(20)), { maxLength: 40 }), (steps) => {
        const limit = limits.limit({ name: 'default', limit: 10 });
        const startMs = clock.ms;
        const key = `key-${run++}`;
        let allowed = 0;
        for (const [waitMs, requests] of steps) {
          clock.ms += waitMs;
          for (let i = 0; i < requests; i++) if ((limit.take(key) as RateDecision).allowed) allowed++;
        }
        expect(allowed).toBeLessThanOrEqual(20 + ((clock.ms - startMs) / 1000) * 10 + 1e-6);
      }),
    );
  });

  test('0 is off', async () => {
    const limit = (await start({ clock: { ms: 0 } })).limit({ name: 'default', limit: 0 });
    expect(limit.isOff).toBe(true);
    expect(await count(() => limit.take('a'), 10_000)).toBe(10_000);
  });

  test('asks the store in the background, not per request', async () => {
    const clock = { ms: 0 };
    const store = new SharedStore(clock);
    const limits = await start({ clock, store });
    const limit = limits.limit({ name: 'default', limit: 1_000 });
    for (let i = 0; i < 1_500; i++) expect(limit.take(`key-${i % 50}`)).not.toBeInstanceOf(Promise);
    expect(store.syncs).toBe(1);
    await limits.sync();
    expect(store.syncs).toBe(2);
    expect(store.buckets.get('default:key-0')?.tokens).toBe(1_970);
  });
});

describe('several processes', () => {
  test.each([2, 3, 5])('%i share one burst when the load is even', async (size) => {
    const clock = { ms: 0 };
    const store = new SharedStore(clock);
    const processes: RateLimits[] = [];
    for (let i = 0; i < size; i++) processes.push(await start({ clock, store }));
    for (const limits of processes) await limits.sync();
    const takers = processes.map((limits) => limits.limit({ name: 'default', limit: 25 }));
    let allowed = 0;
    for (let i = 0; i < 200; i++) {
      const taker = takers[i % takers.length] as (typeof takers)[number];
      if ((await taker.take('a')).allowed) allowed++;
    }
    expect(allowed).toBeGreaterThanOrEqual(50);
    expect(allowed).toBeLessThanOrEqual(50 + 2 * size);
  });

  test('a burst that meets only one of them is still allowed whole', async () => {
    const clock = { ms: 0 };
    const store = new SharedStore(clock);
    const first = await start({ clock, store });
    await start({ clock, store });
    await first.sync();
    const limit = first.limit({ name: 'default', limit: 25 });
    expect(await count(() => limit.take('a'), 60)).toBe(50);
    expect(store.syncs).toBeLessThan(20);
  });

  test('overspending is bounded by half a burst and paid back', async () => {
    const clock = { ms: 0 };
    const store = new SharedStore(clock);
    const processes = [await start({ clock, store }), await start({ clock, store })];
    for (const limits of processes) await limits.sync();
    const [one, two] = processes.map((limits) => limits.limit({ name: 'default', limit: 25 }));
    // The second process holds a share from before, while the first drains the bucket.
    await two?.take('a');
    let allowed = 1 + (await count(() => one?.take('a') as RateDecision, 200));
    allowed += await count(() => two?.take('a') as RateDecision, 200);
    expect(allowed).toBeLessThanOrEqual(75);
    for (let step = 0; step < 50; step++) {
      clock.ms += 200;
      for (const limits of processes) await limits.sync();
      allowed += await count(() => one?.take('a') as RateDecision, 20);
      allowed += await count(() => two?.take('a') as RateDecision, 20);
    }
    for (const limits of processes) await limits.sync();
    // Ten seconds at 25/s and one burst; the overspent tokens came off what followed.
    expect(allowed).toBeLessThanOrEqual(50 + 250 + 4);
    expect(allowed).toBeGreaterThanOrEqual(250);
  });

  test('a store that answers after whoever waited has gone on takes nothing from those who come next', async () => {
    const clock = { ms: 0 };
    const store = new SlowStore(clock);
    const [first] = [await start({ clock, store }), await start({ clock, store })];
    await first.sync();
    const limit = first.limit({ name: 'default', limit: 5, windowSeconds: 3_600, burst: 5 });
    store.answersAfterMs = 150;
    const allowed: boolean[] = [];
    for (let n = 0; n < 6; n += 1) {
      allowed.push((await limit.take('a')).allowed);
      await first.sync();
    }
    expect(allowed).toEqual([true, true, true, true, true, false]);
    await first.sync();
    expect(store.buckets.get('default:a')?.tokens).toBe(0);
  });

  test('without the store each limits by itself, and reports later what it spent', async () => {
    const clock = { ms: 0 };
    const store = new SharedStore(clock);
    const told: unknown[] = [];
    const outage = createOutage({ began: (error) => told.push(error), ended: () => told.push('ended') });
    const limits = await start({ clock, store, outage });
    const limit = limits.limit({ name: 'default', limit: 25 });
    store.down = true;
    expect(await count(() => limit.take('a'), 60)).toBe(50);
    for (let tries = 0; tries < 3; tries++) await limits.sync();
    expect(told).toEqual([new Error('the store is down')]);
    store.down = false;
    await limits.sync();
    expect(told.slice(1)).toEqual(['ended']);
    expect(store.buckets.get('default:a')?.tokens).toBe(0);
  });
});

test('keys that were forgotten while the store was away and came again do not keep it from being told', async () => {
  const clock = { ms: 0 };
  const store = new SharedStore(clock);
  const limits = await start({ clock, store });
  const limit = limits.limit({ name: 'default', limit: 25 });
  store.down = true;
  const keys = Array.from({ length: 100_001 }, (_, index) => `stranger ${index}`);
  for (const key of [...keys, 'stranger 0']) await limit.take(key);
  await limits.sync();
  store.down = false;
  await limits.sync();
  expect(store.buckets.get('default:stranger 0')?.tokens).toBe(49);
  expect(store.buckets.size).toBe(100_000);
});

describe('over HTTP', () => {
  test('headers on every answer; 429 with Retry-After beyond the limit', async () => {
    const clock = { ms: 0 };
    const limits = await start({ clock });
    const limit = limits.limit({ name: 'default', limit: 2 });
    const app = await createTestApp();
    app.addHook('onRequest', async (request, reply) =>
      limit.enforce(String(request.headers.authorization), reply),
    );
    app.get('/limited', async () => ({}));
    const answers = [];
    for (let i = 0; i < 5; i++)
      answers.push(await app.inject({ url: '/limited', headers: { authorization: 'a' } }));
    expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200, 429]);
    expect(answers[0]?.headers).toMatchObject({
      ratelimit: '"default";r=3;t=1',
      'ratelimit-policy': '"default";q=2;w=1',
    });
    expect(answers[4]?.headers).toMatchObject({
      ratelimit: '"default";r=0;t=1',
      'ratelimit-policy': '"default";q=2;w=1',
      'retry-after': '1',
      'content-type': 'application/problem+json',
    });
    expect(answers[4]?.json()).toMatchObject({ code: 'rate_limited', status: 429 });
    expect((await app.inject({ url: '/limited', headers: { authorization: 'b' } })).statusCode).toBe(200);
    await app.close();
  });
});
