// Bank accounts, balances, test accounts and their deletion, over HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tenantOf } from '../../../services/payments/src/tenant.ts';
import { type Harness, NEXT_YEAR, startHarness } from './harness.ts';

let harness: Harness;
let organisation: Awaited<ReturnType<Harness['organisation']>>;
let key: string;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api' } });
  organisation = await harness.organisation();
  key = organisation.test;
});
afterAll(() => harness.stop());

const METHODS = '/v1/payment_methods';
const CHASE = '021000021';
const account = {
  routing_number: CHASE,
  account_number: '000123456789',
  account_type: 'checking',
  holder_name: 'Ada Lovelace',
  holder_type: 'individual',
};

function create(bank: Partial<typeof account> = {}, more: { key?: string; metadata?: object } = {}) {
  const { key: ownKey = key, ...rest } = more;
  const body = { type: 'bank_account', bank_account: { ...account, ...bank }, ...rest };
  return harness.call('POST', METHODS, { key: ownKey, body });
}

const get = (id: string, ownKey = key) => harness.call('GET', `${METHODS}/${id}`, { key: ownKey });
const remove = (id: string, ownKey = key) => harness.call('DELETE', `${METHODS}/${id}`, { key: ownKey });
const eventsOf = async (id: string, ownKey = key) =>
  (await harness.call('GET', `/v1/events?object_id=${id}`, { key: ownKey })).body.data;

describe('bank accounts', () => {
  test('[P-4.20] [P-10.1] are created with 201, and their number is sealed and shown by last4', async () => {
    const created = await create({}, { metadata: { order: '7' } });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^pm_/),
      object: 'payment_method',
      mode: 'test',
      type: 'bank_account',
      rails: { send: ['ach'], receive: ['rtp', 'ach'] },
      bank_account: {
        routing_number: CHASE,
        last4: '6789',
        account_type: 'checking',
        holder_name: 'Ada Lovelace',
        holder_type: 'individual',
        fingerprint: expect.any(String),
      },
      balance: null,
      metadata: { order: '7' },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await get(created.body.id)).body).toEqual(created.body);
    const { rows } = await harness.database.query(
      `select m::text || encode(account_sealed, 'escape') as row from payment_methods m where id = $1
       union all select e::text from events e where subject_id = $1`,
      [created.body.id],
    );
    expect(rows).toHaveLength(2);
    expect(rows.map(({ row }) => row).join()).not.toContain(account.account_number);
    const [method] = await harness.parts.methods.paymentMethods.find(harness.database, [
      { tenantId: `${organisation.id}.test`, id: created.body.id },
    ]);
    expect(method && harness.parts.methods.paymentMethods.openAccountNumber(method)).toBe(
      account.account_number,
    );
  });

  test('[P-4.20] a sealed number moved to another method does not open', async () => {
    const [one, two] = [(await create()).body.id, (await create()).body.id];
    const { rows } = await harness.database.query<{ sealed: Buffer }>(
      'select account_sealed as sealed from payment_methods where id = $1',
      [one],
    );
    await harness.database.query('update payment_methods set account_sealed = $1 where id = $2', [
      rows[0]?.sealed,
      two,
    ]);
    const [moved] = await harness.parts.methods.paymentMethods.find(harness.database, [
      { tenantId: `${organisation.id}.test`, id: two },
    ]);
    expect(() => moved && harness.parts.methods.paymentMethods.openAccountNumber(moved)).toThrow(/envelope/);
  });

  test('[P-4.20] equal accounts share a fingerprint within an organisation and mode, and no further', async () => {
    const fingerprint = async (bank: Partial<typeof account>, ownKey = key) =>
      (await create(bank, { key: ownKey })).body.bank_account.fingerprint;
    const first = await fingerprint({});
    expect(await fingerprint({ holder_name: 'Another Name' })).toBe(first);
    expect(await fingerprint({ account_number: '000123456780' })).not.toBe(first);
    expect(await fingerprint({ routing_number: '026009593' })).not.toBe(first);
    expect(await fingerprint({}, organisation.live)).not.toBe(first);
    expect(await fingerprint({}, (await harness.organisation()).test)).not.toBe(first);
    const listed = await harness.call('GET', `${METHODS}?fingerprint=${first}`, { key });
    expect(listed.body.data.length).toBeGreaterThanOrEqual(2);
    for (const method of listed.body.data) expect(method.bank_account.fingerprint).toBe(first);
  });

  test('[P-4.21] a wrong checksum is refused by its pointer', async () => {
    for (const number of ['021000022', '02100002', '0210000210', 'abcdefghi', '', '000000000']) {
      const answer = await create({ routing_number: number });
      expect([number, answer.status]).toEqual([number, 422]);
      expect(answer.body.errors).toMatchObject([{ pointer: '/bank_account/routing_number' }]);
    }
  });

  test('[P-4.22] the directory decides on which rails an account sends and receives', async () => {
    const rails = async (routing_number: string, ownKey = key) =>
      (await create({ routing_number }, { key: ownKey })).body.rails;
    expect(await rails(CHASE)).toEqual({ send: ['ach'], receive: ['rtp', 'ach'] });
    // Valid, and in no directory: every bank takes ACH.
    expect(await rails('999999992')).toEqual({ send: ['ach'], receive: ['ach'] });
    // The sandbox's bank is our sponsor there, and unknown in live mode.
    expect(await rails('110000000')).toEqual({ send: ['rtp', 'ach'], receive: ['rtp', 'ach'] });
    expect(await rails('110000000', organisation.live)).toEqual({ send: ['ach'], receive: ['ach'] });
  });

  test('[P-4.21] names of people are trimmed, and nothing else of them is changed', async () => {
    const answer = await create({ holder_name: '  Zoë Ångström 🦊 ' });
    expect(answer.body.bank_account.holder_name).toBe('Zoë Ångström 🦊');
  });
});

describe('balances', () => {
  test('[P-4.23] open empty, with an account in the ledger', async () => {
    const { status, body } = await harness.call('POST', METHODS, { key, body: { type: 'balance' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      type: 'balance',
      bank_account: null,
      balance: { currency: 'USD', posted: 0, pending: 0, available: 0, owed: 0 },
      rails: { send: ['rtp', 'ach', 'book'], receive: ['rtp', 'ach', 'book'] },
    });
    await harness.database.query(
      'update ledger_balances set posted = 1000, held = 300, incoming = 50 where payment_method_id = $1',
      [body.id],
    );
    const expected = { currency: 'USD', posted: 1000, pending: -250, available: 700, owed: 0 };
    expect((await get(body.id)).body.balance).toEqual(expected);
    const listed = await harness.call('GET', `${METHODS}?type=balance&limit=1`, { key });
    expect(listed.body.data).toMatchObject([{ id: body.id, balance: expected }]);
  });

  test('[P-10.11] with money, on its way or owed, cannot be deleted', async () => {
    const { body } = await harness.call('POST', METHODS, { key, body: { type: 'balance' } });
    const set = (amounts: readonly number[]) =>
      harness.database.query(
        'update ledger_balances set posted = $2, held = $3, incoming = $4, owed = $5 where payment_method_id = $1',
        [body.id, ...amounts],
      );
    for (const [amounts, code] of [
      [[1, 0, 0, 0], 'balance_not_empty'],
      [[-5, 0, 0, 5], 'balance_not_empty'],
      [[0, 0, 7, 0], 'payment_method_in_use'],
    ] as const) {
      await set(amounts);
      const answer = await remove(body.id);
      expect([answer.status, answer.body.code]).toEqual([409, code]);
    }
    await set([0, 0, 0, 0]);
    expect((await remove(body.id)).status).toBe(204);
  });
});

describe('reading and deleting', () => {
  test('[P-4.24] [P-2.4] lists are newest first, filtered by type, without deleted ones', async () => {
    const { test: own } = await harness.organisation();
    const bank = (await create({}, { key: own })).body.id;
    const balance = (await harness.call('POST', METHODS, { key: own, body: { type: 'balance' } })).body.id;
    const last = (await create({}, { key: own })).body.id;
    const list = async (query = '') =>
      (await harness.call('GET', `${METHODS}${query}`, { key: own })).body.data.map(
        (method: { id: string }) => method.id,
      );
    expect(await list()).toEqual([last, balance, bank]);
    expect(await list('?type=bank_account')).toEqual([last, bank]);
    expect(await list('?type=balance')).toEqual([balance]);
    await remove(last, own);
    expect(await list()).toEqual([balance, bank]);
  });

  test('[P-4.25] [P-10.1] a deleted method stays deleted, and its events tell its life', async () => {
    const { id } = (await create()).body;
    const deleted = await remove(id);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await get(id)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
    const events = await eventsOf(id);
    expect(events.map((event: { type: string }) => event.type)).toEqual([
      'payment_method.deleted',
      'payment_method.created',
    ]);
    expect(events[1].data).toMatchObject({ id, object: 'payment_method' });
    const [method] = await harness.parts.methods.paymentMethods.find(harness.database, [
      { tenantId: `${organisation.id}.test`, id },
    ]);
    expect(method?.deletedAt).toBeInstanceOf(Date);
  });

  test('[P-4.25] deleting is refused while payments are open', async () => {
    const { id } = (await create()).body;
    const insert = (paymentId: string, side: 'source_id' | 'destination_id', status: string) =>
      harness.database.query(
        `insert into payments (tenant_id, id, status, amount, ${side},
           ${side === 'source_id' ? 'destination_id' : 'source_id'}, debit_account, credit_account, rail_selected,
           fallback, metadata, created_at, document)
         values ($1, $2, $3, 1, $4, 'pm_other', 'a', 'b', 'ach', true, '{}', now(), '{}')`,
        [`${organisation.id}.test`, paymentId, status, id],
      );
    await insert('pay_a', 'source_id', 'pending');
    const first = await remove(id);
    expect([first.status, first.body.code]).toEqual([409, 'payment_method_in_use']);
    await harness.database.query(`update payments set status = 'canceled' where id = 'pay_a'`);
    await insert('pay_b', 'destination_id', 'processing');
    expect((await remove(id)).status).toBe(409);
    await harness.database.query(`update payments set status = 'completed' where id = 'pay_b'`);
    expect((await remove(id)).status).toBe(204);
  });
});

describe('test accounts', () => {
  const tenant = () => tenantOf(organisation.id, 'test');
  const use = (id: string, at = new Date('2030-01-01T00:00:00Z')) => {
    const method = harness.parts.methods.paymentMethods.atFirstUse(
      { tenantId: tenant().id, id },
      tenant(),
      at,
    );
    return (
      method &&
      harness.database.transaction((tx) => harness.parts.methods.paymentMethods.insert(tx, [method]))
    );
  };

  test('[P-10.10] reading an unknown one is 404 and creates nothing', async () => {
    expect((await get('pm_alice')).status).toBe(404);
    expect((await remove('pm_alice')).status).toBe(404);
    expect((await get('pm_alice')).status).toBe(404);
  });

  test('[P-4.26] an unknown id becomes an account on both rails once, with one event', async () => {
    const events = await Promise.all([use('pm_bob'), use('pm_bob'), use('pm_bob')]);
    expect(events.flat()).toHaveLength(1);
    const { body } = await get('pm_bob');
    expect(body).toMatchObject({
      id: 'pm_bob',
      rails: { send: ['rtp', 'ach'], receive: ['rtp', 'ach'] },
      created_at: '2030-01-01T00:00:00.000Z',
    });
    expect(await eventsOf('pm_bob')).toMatchObject([
      { type: 'payment_method.created', timestamp: '2030-01-01T00:00:00.000Z', data: body },
    ]);
    await use('pm_test_no_rtp');
    expect((await get('pm_test_no_rtp')).body.rails).toEqual({ send: ['ach'], receive: ['ach'] });
  });

  test('[P-4.26] whatever stands behind `pm_` names an account, which is paid, found and listed by it', async () => {
    const named = ['pm_zoë', 'pm_a+b', 'pm_a b', 'pm_a/b', 'pm_user=1', `pm_${'口'.repeat(252)}`];
    for (const id of named) {
      const body = {
        ...{ amount: 100, currency: 'USD', rail: 'rtp' },
        ...{ source: { payment_method_id: 'pm_bob' }, destination: { payment_method_id: id } },
      };
      const headers = { 'idempotency-key': encodeURIComponent(id).slice(0, 200) };
      expect((await harness.call('POST', '/v1/payments', { key, body, headers })).status, id).toBe(202);
      expect((await get(encodeURIComponent(id))).body.id).toBe(id);
      const paid = await harness.call('GET', `/v1/payments?payment_method=${encodeURIComponent(id)}`, {
        key,
      });
      expect(paid.body.data).toHaveLength(1);
    }
  });

  test('[P-4.26] lists go by real time, also when the sandbox clock is elsewhere', async () => {
    await use('pm_zzz_future');
    const { id } = (await create()).body;
    const { body } = await harness.call('GET', `${METHODS}?limit=2`, { key });
    expect(body.data.map((method: { id: string }) => method.id)).toEqual([id, 'pm_zzz_future']);
  });

  test('[P-10.15] what makes, uses or deletes one stamps it with the time of the sandbox clock, and none goes back', async () => {
    const own = (await harness.organisation()).test;
    const at = `${NEXT_YEAR}-03-01T15:00:00.000Z`;
    const later = `${NEXT_YEAR}-03-02T15:00:00.000Z`;
    const call = (method: string, path: string, body?: object) =>
      harness.call(method, path, { key: own, ...(body === undefined ? {} : { body }) });
    await call('POST', '/v1/sandbox/clock', { now: at });
    const quoted = await call('POST', '/v1/payments/quote', {
      ...{ amount: 500, currency: 'USD' },
      ...{ source: { payment_method_id: 'pm_used' }, destination: { payment_method_id: 'pm_other' } },
    });
    expect(quoted.status).toBe(200);
    const made = [
      (await create({}, { key: own })).body,
      (await call('POST', METHODS, { type: 'balance' })).body,
    ];
    const used = (await get('pm_used', own)).body;
    expect([...made, used].map(({ created_at, updated_at }) => [created_at, updated_at])).toEqual(
      [1, 2, 3].map(() => [at, at]),
    );
    await call('POST', '/v1/sandbox/clock', { now: later });
    for (const { id } of [...made, used]) {
      expect((await remove(id, own)).status).toBe(204);
      const [deleted, created] = await eventsOf(id, own);
      expect([created.timestamp, deleted.timestamp]).toEqual([at, later]);
      expect(deleted.data).toMatchObject({ created_at: at, updated_at: later });
    }
  });

  test('one that a version before stamped with real time, ahead of a clock that stands still, is not deleted before that', async () => {
    const { id } = (await create()).body;
    const ahead = new Date(Date.now() + 3_600_000);
    await harness.database.query(
      'update payment_methods set created_at = $2, updated_at = $2 where id = $1',
      [id, ahead],
    );
    expect((await remove(id)).status).toBe(204);
    const [deleted] = await eventsOf(id);
    expect(deleted.data.updated_at).toBe(ahead.toISOString());
  });

  test('[P-4.27] ids of another form, and all in live mode, must be stored', () => {
    const { atFirstUse } = harness.parts.methods.paymentMethods;
    const live = tenantOf(organisation.id, 'live');
    expect(atFirstUse({ tenantId: live.id, id: 'pm_alice' }, live, new Date())).toBeUndefined();
    for (const id of ['pm_', 'acct_1', 'PM_alice', 'pm alice', `pm_${'x'.repeat(253)}`, 'pm_a\n']) {
      expect(atFirstUse({ tenantId: tenant().id, id }, tenant(), new Date())).toBeUndefined();
    }
  });

  test('[P-4.25] a deleted one does not come back', async () => {
    await use('pm_carol');
    expect((await remove('pm_carol')).status).toBe(204);
    expect(await use('pm_carol')).toEqual([]);
    expect((await get('pm_carol')).status).toBe(404);
  });

  test('[P-10.14] a notification of change updates the stored account, once', async () => {
    const { id, bank_account: before } = (await create()).body;
    const key_ = { tenantId: tenant().id, id };
    const at = new Date('2031-02-03T04:05:06Z');
    const apply = (correction: object) =>
      harness.database.transaction((tx) =>
        harness.parts.methods.paymentMethods.applyCorrection(tx, key_, correction, at),
      );
    const corrected = await apply({ accountNumber: '99887766', routingNumber: '110000000' });
    expect(corrected && harness.parts.methods.paymentMethods.openAccountNumber(corrected)).toBe('99887766');
    const { body } = await get(id);
    expect(body).toMatchObject({
      updated_at: at.toISOString(),
      rails: { send: ['rtp', 'ach'] },
      bank_account: { last4: '7766', routing_number: '110000000', holder_name: 'Ada Lovelace' },
    });
    expect(body.bank_account.fingerprint).not.toBe(before.fingerprint);
    expect(await apply({ accountNumber: '99887766' })).toBeUndefined();
    const events = await eventsOf(id);
    expect(events.map((event: { type: string }) => event.type)).toEqual([
      'payment_method.updated',
      'payment_method.created',
    ]);
    expect(events[0].data).toEqual(body);
  });
});
