// How the operator works off what was put aside, over HTTP, and how long that is kept.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromNewYork } from '../clock/new-york.ts';
import { lockScope } from '../rails/ach/outgoing/files-store.ts';
import type { House } from '../rails/ach/test/house.ts';
import { admin, type OperatedHouse, openOperatedHouse } from '../rails/test/operated-house.ts';
import { type Mode, type Tenant, tenantOf } from '../tenant.ts';
import { createQuarantine } from './service.ts';

let desk: OperatedHouse;
let house: House;
let tenant: Tenant;

const get = (...call: Parameters<OperatedHouse['get']>) => desk.get(...call);
const post = (...call: Parameters<OperatedHouse['post']>) => desk.post(...call);

beforeAll(async () => {
  desk = await openOperatedHouse();
  house = desk.house;
  tenant = await house.addTenant('org_resolving');
  await house.pay(tenant);
});
afterAll(() => desk.close());

/** A return that names a trace of nobody, put aside. */
async function strayReturn(amount: string, mode: Mode | null = null): Promise<string> {
  const lines = [
    '5225PAYMENTS SANDBOX                    1110000000WEBPAYMENT         830302   1110000000000001',
    `626110000000TRTR01749117     ${amount}ntd9nqavgdxc57rTest Account          S 1110000000000002`,
    '799R02110000007777777      11000000                                            110000000000002',
  ];
  const id = `quarantine_${Math.random()}`;
  const item = {
    id,
    rail: 'ach',
    mode,
    reason: 'no such entry',
    receivedAt: new Date(),
    content: lines.join('\n'),
  } as const;
  await house.context.quarantine.putAside(house.database, [item]);
  return id;
}

describe('working off what was put aside', () => {
  test('[P-5.15] it is applied to the payment that it belongs to, once', async () => {
    const other = await house.addTenant('org_aside');
    await house.moveClock(other, fromNewYork('2083-07-06', '09:00'));
    const id = await house.pay(other, { amount: 12_34 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-07-06', '23:00'));
    const aside = await strayReturn('0000001234');
    const apply = (body: object) => post(`/v1/admin/quarantine/${aside}/apply`, body, admin);
    expect((await apply({ payment_id: 'pay_nothing' })).body).toMatchObject({
      status: 422,
      code: 'payment_not_found',
    });
    expect((await apply({ payment_id: id })).body).toMatchObject({
      ...{ status: 'applied', resolution: id, resolved_by: 'admin_token', resolved_at: expect.any(String) },
    });
    expect(await house.get(other, id)).toMatchObject({ status: 'failed', failure: { network_code: 'R02' } });
    expect((await apply({ payment_id: id })).status).toBe(409);
    // Its owners see in their log that somebody has touched their payment.
    const told = desk.audited.filter(({ target }) => target === aside);
    expect(told).toMatchObject([
      {
        ...{ organisationId: other.organisationId, userId: 'operator', ip: null },
        ...{ action: 'quarantine.applied', outcome: 'success' },
      },
    ]);
  });

  test('[P-5.15] [P-10.3] what is repeated with its key is answered as at first, and done once', async () => {
    const other = await house.addTenant('org_aside_keyed');
    await house.moveClock(other, fromNewYork('2083-07-06', '09:00'));
    const id = await house.pay(other, { amount: 12_34 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-07-06', '23:00'));
    const [applied, dismissed] = [await strayReturn('0000001234'), await strayReturn('0000001234')];
    const calls: [string, object][] = [
      [`/v1/admin/quarantine/${applied}/apply`, { payment_id: id }],
      [`/v1/admin/quarantine/${dismissed}/dismiss`, { reason: 'Sent twice.' }],
    ];
    for (const [path, body] of calls) {
      const repeat = () => post(path, body, { ...admin, 'idempotency-key': '"the same"' });
      const first = await repeat();
      expect(first).toMatchObject({ status: 200, isReplayed: false });
      expect(await repeat()).toEqual({ ...first, isReplayed: true });
      // Without its key it is another request, which finds it worked off.
      expect((await post(path, body, admin)).status).toBe(409);
    }
    expect((await house.get(other, id)).timeline).toHaveLength(3);
  });

  test('[P-5.15] the payment is found in each mode, also after a reset of the sandbox', async () => {
    const reset = await house.addTenant('org_aside_reset');
    await house.database.query('update organisations set test_epoch = 2 where id = $1', [
      reset.organisationId,
    ]);
    for (const other of [
      tenantOf(reset.organisationId, 'test', 2),
      await house.addTenant('org_aside_live', 'live'),
    ]) {
      const payment = { id: `pay_${other.id}`, amount: 1, status: 'completed' };
      const aside = await strayReturn('0000001234');
      await house.database.query(
        `insert into payments select (jsonb_populate_record(p, $2)).* from payments p where tenant_id = $1 limit 1`,
        [tenant.id, JSON.stringify({ ...payment, tenant_id: other.id })],
      );
      // Of a payment that is there nothing fits, of one that is not there nothing is known.
      expect(
        (await post(`/v1/admin/quarantine/${aside}/apply`, { payment_id: payment.id }, admin)).body,
      ).toMatchObject({ code: 'quarantine_not_applicable' });
    }
  });

  test('[P-5.15] what came in one mode is applied to no payment of the other, and is told and found by its mode', async () => {
    const other = await house.addTenant('org_aside_modes');
    await house.moveClock(other, fromNewYork('2083-07-06', '09:00'));
    const id = await house.pay(other, { amount: 43_21 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-07-06', '23:00'));
    const [live, test] = [await strayReturn('0000004321', 'live'), await strayReturn('0000004321', 'test')];
    const apply = (aside: string) => post(`/v1/admin/quarantine/${aside}/apply`, { payment_id: id }, admin);
    const refused = await apply(live);
    expect(refused.body).toMatchObject({ status: 422, code: 'quarantine_not_applicable' });
    expect((await apply(test)).body).toMatchObject({ status: 'applied', mode: 'test' });
    const found = async (mode: string) =>
      (await get(`/v1/admin/quarantine?mode=${mode}&limit=100`, admin)).body.data as {
        id: string;
        mode: string;
      }[];
    expect((await found('live')).map((item) => [item.id, item.mode])).toEqual([[live, 'live']]);
    expect((await found('test')).map((item) => item.id)).toContain(test);
  });

  test('[P-5.15] nothing else works on the scope of its rail meanwhile', async () => {
    const other = await house.addTenant('org_aside_alone');
    await house.moveClock(other, fromNewYork('2083-07-06', '09:00'));
    const id = await house.pay(other, { amount: 12_34 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-07-06', '23:00'));
    const aside = await strayReturn('0000001234');
    const [locked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const working = house.database.transaction(async (tx) => {
      await lockScope(tx, other.id);
      locked.resolve();
      await free.promise;
    });
    await locked.promise;
    const applied = post(`/v1/admin/quarantine/${aside}/apply`, { payment_id: id }, admin);
    const waiting = async () => {
      const { rows } = await house.database.query<{ n: number }>(
        `select count(*)::int as n from pg_locks join pg_database on pg_database.oid = database
         where datname = current_database() and locktype = 'advisory' and not granted`,
      );
      return rows[0]?.n;
    };
    try {
      await expect.poll(waiting, { interval: 10 }).toBe(1);
    } finally {
      free.resolve();
      await working;
    }
    expect((await applied).status).toBe(200);
    expect((await house.get(other, id)).status).toBe('failed');
  });

  test('[P-5.15] one that does not fit, or whose payment never left, is refused and stays', async () => {
    const other = await house.addTenant('org_aside_2');
    await house.moveClock(other, fromNewYork('2083-07-06', '09:00'));
    const id = await house.pay(other, { amount: 12_34 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-07-06', '23:00'));
    const aside = await strayReturn('0000009999');
    const never = await house.pay(other, { amount: 99_99 });
    const tooEarly = await post(`/v1/admin/quarantine/${aside}/apply`, { payment_id: never }, admin);
    expect(tooEarly.body).toMatchObject({ status: 422, code: 'quarantine_not_applicable' });
    expect((await house.get(other, never)).status).toBe('pending');
    const applied = await post(`/v1/admin/quarantine/${aside}/apply`, { payment_id: id }, admin);
    expect(applied.body).toMatchObject({ status: 422, code: 'quarantine_not_applicable' });
    expect((await house.get(other, id)).status).toBe('processing');
    const dismissed = await post(`/v1/admin/quarantine/${aside}/dismiss`, { reason: 'a test' }, admin);
    expect(dismissed.body).toMatchObject({
      ...{ status: 'dismissed', resolution: 'a test', resolved_by: 'admin_token' },
    });
    expect((await get('/v1/admin/quarantine?status=open', admin)).body.data).not.toContainEqual(
      expect.objectContaining({ id: aside }),
    );
  });
});

test('what was worked off goes after its time, what is open stays', async () => {
  const [open, done] = [await strayReturn('0000000001'), await strayReturn('0000000002')];
  await post(`/v1/admin/quarantine/${done}/dismiss`, { reason: 'a test' }, admin);
  const resolvedAt = new Date(
    (await get(`/v1/admin/quarantine/${done}`, admin)).body.resolved_at as string,
  ).getTime();
  const sweepAt = (days: number) =>
    createQuarantine({
      ...house.context,
      now: () => new Date(resolvedAt + days * 86_400_000 + 1),
    }).sweep(1);
  const status = async (id: string) => (await get(`/v1/admin/quarantine/${id}`, admin)).status;
  while ((await sweepAt(399)) > 0);
  expect(await status(done)).toBe(200);
  for (let turn = 0; turn < 10 && (await sweepAt(400)) > 0; turn += 1);
  expect([await status(open), await status(done)]).toEqual([200, 404]);
});
