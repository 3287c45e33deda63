// What the rails show over HTTP: a payment's messages to its owner, what is put aside and files to the operator.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromNewYork } from '../clock/new-york.ts';
import { createQuarantine } from '../quarantine/service.ts';
import { reconcile } from '../reconciliation/comparison.ts';
import type { Tenant } from '../tenant.ts';
import { readNacha } from './ach/nacha/read.ts';
import type { House } from './ach/test/house.ts';
import type { RailId } from './rail-ids.ts';
import { admin, type OperatedHouse, openOperatedHouse, reconciledRails } from './test/operated-house.ts';

let desk: OperatedHouse;
let house: House;
let tenant: Tenant;

const get = (...call: Parameters<OperatedHouse['get']>) => desk.get(...call);
const post = (...call: Parameters<OperatedHouse['post']>) => desk.post(...call);

beforeAll(async () => {
  desk = await openOperatedHouse();
  house = desk.house;
  tenant = await house.addTenant('org_routes');
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
});
afterAll(() => desk.close());

describe('GET /v1/payments/:id/messages', () => {
  test('shows the lines of this payment alone, newest first, page by page', async () => {
    const id = await house.pay(tenant, { destinationId: 'pm_test_ach_noc_c04' });
    await house.pay(tenant);
    await house.idle();
    await house.moveClock(tenant, fromNewYork('2083-03-03', '09:00'));
    const url = `/v1/payments/${id}/messages`;
    const { status, body } = await get(url, { authorization: 'Bearer org_routes' });
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'list',
      data: ['noc', 'nacha', 'nacha'].map((kind) => ({
        id: expect.stringMatching(/^msg_/),
        object: 'rail_message',
        rail: 'ach',
        direction: kind === 'noc' ? 'in' : 'out',
        kind,
        content: expect.any(String),
        created_at: expect.stringMatching(/^2083-03-0\d/),
      })),
      next_cursor: null,
    });
    for (const { content } of body.data) {
      const read = readNacha(content);
      expect(read.ok && read.file.batches.flatMap((batch) => batch.entries)).toHaveLength(1);
    }
    const first = await get(`${url}?limit=2`, { authorization: 'Bearer org_routes' });
    expect(first.body.data).toEqual(body.data.slice(0, 2));
    const second = await get(`${url}?limit=2&cursor=${first.body.next_cursor}`, {
      authorization: 'Bearer org_routes',
    });
    expect(second.body).toEqual({ object: 'list', data: body.data.slice(2), next_cursor: null });
    const another = await house.pay(tenant);
    const foreign = await get(`/v1/payments/${another}/messages?cursor=${first.body.next_cursor}`, {
      authorization: 'Bearer org_routes',
    });
    expect(foreign).toMatchObject({ status: 400, body: { errors: [{ parameter: 'cursor' }] } });
  });

  test("another organisation's payment and no payment at all look the same", async () => {
    const id = await house.pay(tenant);
    const without = ({ status, body }: Awaited<ReturnType<typeof get>>) => ({
      status,
      body: { ...body, request_id: '' },
    });
    const foreign = await get(`/v1/payments/${id}/messages`, { authorization: 'Bearer org_other' });
    const unknown = await get('/v1/payments/pay_nothing/messages', { authorization: 'Bearer org_other' });
    expect(foreign.status).toBe(404);
    expect(without(foreign)).toEqual(without(unknown));
  });

  test('a payment that has not left yet has none', async () => {
    const id = await house.pay(tenant);
    const { body } = await get(`/v1/payments/${id}/messages`, { authorization: 'Bearer org_routes' });
    expect(body.data).toEqual([]);
  });
});

describe('quarantine', () => {
  test("is the operator's: newest first, page by page, with what was received", async () => {
    const put = (id: string, rail: RailId, second: number, content: string) =>
      createQuarantine(house.context).putAside(house.database, [
        {
          ...{ id, rail, content, mode: 'test', reason: 'unmatched' },
          receivedAt: new Date(Date.UTC(2083, 0, 1, 0, 0, second)),
        },
      ]);
    await put('qrt_1', 'rtp', 1, '<a>é</a>');
    await put('qrt_1', 'rtp', 9, 'the same id again changes nothing');
    await put('qrt_2', 'rtp', 2, '<kept>before</kept>');
    await put('quarantine_3', 'ach', 2, '101 nonsense');
    const ids = async (query: string) => {
      const { body } = await get(`/v1/admin/quarantine${query}`, admin);
      return { ids: body.data.map(({ id }: { id: string }) => id), next: body.next_cursor };
    };
    expect(await ids('')).toEqual({ ids: ['quarantine_3', 'qrt_2', 'qrt_1'], next: null });
    expect((await ids('?rail=rtp')).ids).toEqual(['qrt_2', 'qrt_1']);
    const first = await ids('?limit=2');
    expect(first.ids).toEqual(['quarantine_3', 'qrt_2']);
    expect(await ids(`?limit=2&cursor=${first.next}`)).toEqual({ ids: ['qrt_1'], next: null });
    expect((await get('/v1/admin/quarantine/qrt_1', admin)).body).toEqual({
      id: 'qrt_1',
      object: 'quarantined',
      mode: 'test',
      rail: 'rtp',
      reason: 'unmatched',
      received_at: '2083-01-01T00:00:01.000Z',
      status: 'open',
      resolved_at: null,
      resolution: null,
      resolved_by: null,
      content: '<a>é</a>',
    });
    const contentOf = async (id: string) => (await get(`/v1/admin/quarantine/${id}`, admin)).body.content;
    expect(await contentOf('qrt_2')).toBe('<kept>before</kept>');
    expect(await contentOf('quarantine_3')).toBe('101 nonsense');
  });

  test('is closed to everybody else, and says where there is nothing', async () => {
    const other = { authorization: 'Bearer sk_test_sandbox' };
    for (const path of ['/v1/admin/quarantine', '/v1/admin/quarantine/qrt_1']) {
      expect((await get(path)).status).toBe(401);
      expect((await get(path, other)).status).toBe(403);
    }
    expect((await get('/v1/admin/quarantine/qrt_none', admin)).status).toBe(404);
    expect((await get('/v1/admin/quarantine?cursor=x', admin)).status).toBe(400);
    expect((await get('/v1/admin/quarantine?rail=wire', admin)).status).toBe(400);
  });
});

describe('files that the bank refuses', () => {
  async function sentFile(name: string) {
    const other = await house.addTenant(name);
    await house.moveClock(other, fromNewYork('2083-08-02', '09:00'));
    const id = await house.pay(other, { amount: 56_78 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-08-02', '23:00'));
    const { rows } = await house.database.query<{ id: string }>('select id from ach_files where scope = $1', [
      other.id,
    ]);
    return { other, id, file: rows[0]?.id ?? '' };
  }

  test('are listed with their totals and states', async () => {
    const { file } = await sentFile('org_files_listed');
    const { body } = await get('/v1/admin/ach_files?status=sent&date=2083-08-02', admin);
    expect(body.data).toContainEqual(
      expect.objectContaining({ id: file, object: 'ach_file', mode: 'test', entries: 1, debit_total: 56_78 }),
    );
    expect((await get('/v1/admin/ach_files?date=2083-08-03', admin)).body.data).toEqual([]);
    expect((await get('/v1/admin/ach_files')).status).toBe(401);
  });

  test('are listed newest first, page by page, by the day on which they left and by state', async () => {
    const other = await house.addTenant('org_files_paged');
    await house.moveClock(other, fromNewYork('2083-09-13', '09:00'));
    const balance = await house.openBalance(other, 12_34);
    await house.pay(other, { amount: 56_78 });
    await house.pay(other, { amount: 12_34, sourceId: balance });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-09-14', '23:00'));
    const list = async (query: string) => (await get(`/v1/admin/ach_files?${query}`, admin)).body;
    const [first, ...others] = (await list('date=2083-09-13')).data;
    expect([first, others]).toMatchObject([{ entries: 2, debit_total: 56_78, credit_total: 12_34 }, []]);
    const [second] = (await list('date=2083-09-14')).data;
    expect(second).toMatchObject({ entries: 1, debit_total: 0, credit_total: 56_78 });
    const page = await list('status=sent&limit=1');
    expect(page.data).toEqual([second]);
    expect((await list(`status=sent&limit=1&cursor=${page.next_cursor}`)).data).toEqual([first]);
    expect((await list('status=waiting')).data).toEqual([]);
    await post(`/v1/admin/ach_files/${second.id}/reject`, { reason: 'too late', resend: false }, admin);
    expect((await list('status=sent&date=2083-09-14')).data).toEqual([]);
    const rejected = { id: second.id, status: 'rejected', rejection: 'too late' };
    expect((await list('status=rejected')).data).toMatchObject([rejected]);
  });

  test('[P-5.16] resend: its entries leave in the next file', async () => {
    const { other, id, file } = await sentFile('org_files_resent');
    const reject = (resend: boolean) =>
      post(`/v1/admin/ach_files/${file}/reject`, { reason: 'duplicate batch', resend }, admin);
    expect(await reject(true)).toMatchObject({ status: 200, body: { id: file, status: 'rejected' } });
    expect((await reject(true)).status).toBe(409);
    await house.moveClock(other, fromNewYork('2083-08-20', '12:00'));
    expect((await house.get(other, id)).status).toBe('completed');
    expect((await get('/v1/admin/ach_files?status=rejected', admin)).body.data).toContainEqual(
      expect.objectContaining({ id: file, rejection: 'duplicate batch' }),
    );
    expect((await house.check(other)).ok).toBe(true);
  });

  test('[P-5.16] [P-10.3] a rejection that is repeated with its key is answered as at first, and done once', async () => {
    const { other, id, file } = await sentFile('org_files_keyed');
    const reject = (reason: string) =>
      post(
        `/v1/admin/ach_files/${file}/reject`,
        { reason, resend: true },
        { ...admin, 'idempotency-key': 'org_files_keyed' },
      );
    const first = await reject('duplicate batch');
    expect(first).toMatchObject({ status: 200, isReplayed: false });
    expect(await reject('duplicate batch')).toEqual({ ...first, isReplayed: true });
    expect((await reject('another reason')).body.code).toBe('idempotency_key_reused');
    await house.moveClock(other, fromNewYork('2083-08-20', '12:00'));
    expect((await house.get(other, id)).status).toBe('completed');
  });

  test('[P-5.16] what came back of it before stays as it is', async () => {
    const other = await house.addTenant('org_files_answered');
    await house.moveClock(other, fromNewYork('2083-08-02', '09:00'));
    const [back, good] = [await house.pay(other), await house.pay(other)];
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-08-02', '23:00'));
    await house.force(other, back, 'return', 'R02');
    const entries = async () => {
      const { rows } = await house.database.query<{ id: string; state: string; file: string }>(
        'select payment_id as id, state, file_id as file from ach_entries where tenant_id = $1',
        [other.id],
      );
      return new Map(rows.map((row) => [row.id, row]));
    };
    const sent = await entries();
    expect([sent.get(back)?.state, sent.get(good)?.state]).toEqual(['returned', 'sent']);
    const file = sent.get(good)?.file;
    expect(sent.get(back)?.file).toBe(file);
    await post(`/v1/admin/ach_files/${file}/reject`, { reason: 'duplicate batch', resend: true }, admin);
    await house.moveClock(other, fromNewYork('2083-08-03', '23:00'));
    const again = await entries();
    expect([again.get(back)?.state, again.get(good)?.state]).toEqual(['returned', 'sent']);
    expect([again.get(back)?.file, again.get(good)?.file === file]).toEqual([file, false]);
  });

  test('[P-5.16] no resend: its payments fail, and nobody was paid', async () => {
    const { other, id, file } = await sentFile('org_files_failed');
    await post(`/v1/admin/ach_files/${file}/reject`, { reason: 'unknown company', resend: false }, admin);
    expect(await house.get(other, id)).toMatchObject({ status: 'failed', failure: { code: 'file_refused' } });
    await house.moveClock(other, fromNewYork('2083-08-20', '12:00'));
    const rail = reconciledRails[0];
    const report = await reconcile(house.database, { day: '2083-08-02', rail, mode: 'test' });
    expect(report.differences.filter(({ paymentId }) => paymentId === id)).toEqual([]);
  });

  test('settled, or unknown: refused', async () => {
    const { other, file } = await sentFile('org_files_settled');
    await house.moveClock(other, fromNewYork('2083-08-20', '12:00'));
    const reject = (id: string) =>
      post(`/v1/admin/ach_files/${id}/reject`, { reason: 'late', resend: false }, admin);
    expect((await reject(file)).status).toBe(409);
    expect((await reject('ach_nothing')).status).toBe(404);
  });
});
