// What goes wrong on the way: crashes between steps, lost lines, lost keys, and banks that take nothing.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import type { SendResult } from '../bank/transport.ts';
import { readNacha } from '../nacha/read.ts';
import { fileDue } from '../outgoing/filing.ts';
import { sendFiles } from '../outgoing/sending.ts';
import { settleDue } from '../work/settling.ts';
import { tick } from '../work/tick.ts';
import { type BreakableHouse, openBreakableHouse } from './breakable-house.ts';
import { whileScopeIsBusy } from './busy-scope.ts';
import { type House, historyOf } from './house.ts';

let rig: BreakableHouse;
let house: House;
let tenant: Tenant;

beforeAll(async () => {
  rig = await openBreakableHouse();
  house = rig.house;
});
afterAll(() => house.close());
beforeEach(async () => {
  tenant = await rig.newTenant();
});

async function filesOf({ id }: Tenant): Promise<{ id: string; refusal: string | null }[]> {
  const { rows } = await house.database.query<{ id: string; refusal: string | null }>(
    'select id, refusal from ach_files where scope = $1 order by id',
    [id],
  );
  return rows;
}

describe('crashes', () => {
  test('between the commit of a file and its sending: it is sent once, and its payment settles once', async () => {
    const id = await rig.pay();
    let attempts = 0;
    rig.onLine.send = async () => {
      attempts += 1;
      throw new Error('the line is cut');
    };
    await rig.setClock('2083-03-05', '12:00');
    await expect(tick(house.context, tenant.id)).rejects.toThrow('the line is cut');
    // Days have passed, but nothing settles before the file has left.
    await expect(tick(house.context, tenant.id)).rejects.toThrow('the line is cut');
    expect(attempts).toBe(2);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing');
    expect(await rig.states(id)).toEqual(['debit sent']);
    // Nor can a bank have rejected it.
    const [file] = await filesOf(tenant);
    const rejected = await house.rejectFile(file?.id ?? '', { reason: 'a test', resend: false });
    expect(rejected).toEqual({ ok: false, reason: 'not_sent' });
    rig.mendLine();
    await tick(house.context, tenant.id);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
    expect((await house.get(tenant, id)).attempts[0]?.settled_at).toBe(
      fromNewYork('2083-03-03', '08:30').toISOString(),
    );
  });

  test('between the sending and the note of it: the operator takes the file once', async () => {
    const id = await rig.pay({ sourceId: 'pm_test_ach_return_r01' });
    const sent: string[] = [];
    rig.onLine.send = async (file) => {
      sent.push(file.name);
      await rig.operatorLine().send(file);
      if (sent.length === 1) throw new Error('died after sending');
      return { ok: true };
    };
    await rig.setClock('2083-03-02', '12:00');
    await expect(tick(house.context, tenant.id)).rejects.toThrow('died after sending');
    await tick(house.context, tenant.id);
    expect(sent).toHaveLength(2);
    expect(new Set(sent).size).toBe(1);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    const { rows } = await house.database.query(
      'select count(*)::int as entries from sandbox_ach_entries where mailbox = $1',
      [tenant.id],
    );
    expect(rows).toEqual([{ entries: 1 }]);
  });

  test('between the reading of an answer and its acknowledgement: it is applied once', async () => {
    const id = await rig.pay({ destinationId: 'pm_test_ach_noc_c01' });
    let refused = 0;
    rig.onLine.acknowledge = async (name) => {
      refused += 1;
      if (refused === 1) throw new Error('died before saying so');
      return rig.operatorLine().acknowledge(name);
    };
    await rig.setClock('2083-03-05', '12:00');
    await expect(tick(house.context, tenant.id)).rejects.toThrow('died before saying so');
    await tick(house.context, tenant.id);
    expect(refused).toBe(2);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
    const { rows } = await house.database.query('select kind, code from ach_replies where payment_id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ kind: 'noc', code: 'C01' }]);
    expect(await rig.quarantined()).toEqual([]);
  });

  test.each([
    ['after the other has fetched answers', false],
    ['while the other fetches answers', true],
  ])('none settles what another is just sending: it arrives %s', async (_name, isMeanwhile) => {
    const id = await rig.pay({ sourceId: 'pm_test_ach_return_r01' });
    await rig.setClock('2083-03-05', '12:00');
    let looks = 0;
    const { clocks } = house.context;
    const context: typeof house.context = {
      ...house.context,
      clocks: {
        ...clocks,
        async timesOf(db, tenantIds) {
          looks += 1;
          // The other one has written the file, and not sent it, when this one looks for what is due.
          if (looks === 1) await fileDue(house.context, tenant.id, fromNewYork('2083-03-01', '22:30'));
          return clocks.timesOf(db, tenantIds);
        },
      },
    };
    rig.onLine.collect = async (asOf) => {
      const answers = await rig.operatorLine().collect(asOf);
      rig.mendLine();
      if (isMeanwhile) await sendFiles(house.context, tenant.id);
      return answers;
    };
    await tick(context, tenant.id);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect(await rig.states(id)).toEqual(['debit returned']);
  });

  test.each<[string, string, SendResult]>([
    ['took', 'debit sent', { ok: true }],
    ['refused', 'debit refused', { ok: false, reasons: ['a test'] }],
  ])(
    'that the bank %s a file is noted while nothing else works on its scope',
    async (_what, state, result) => {
      const id = await rig.pay();
      await rig.setClock('2083-03-01', '23:00');
      rig.onLine.send = async () => result;
      await fileDue(house.context, tenant.id, fromNewYork('2083-03-01', '23:00'));
      await whileScopeIsBusy(house, tenant.id, () => sendFiles(house.context, tenant.id));
      expect(await rig.states(id)).toEqual([state]);
    },
  );

  test('ten workers at once move every payment once', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => house.pay(tenant)));
    await house.idle();
    await rig.setClock('2083-03-04', '12:00');
    await Promise.all(Array.from({ length: 10 }, () => tick(house.context, tenant.id)));
    for (const id of ids) {
      expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
      expect(await rig.states(id)).toEqual(['credit settled', 'debit settled']);
    }
    const { rows } = await house.database.query(
      `select direction, count(*)::int as entries from sandbox_ach_entries where mailbox = $1
       group by direction order by 1`,
      [tenant.id],
    );
    expect(rows).toEqual([
      { direction: 'credit', entries: 20 },
      { direction: 'debit', entries: 20 },
    ]);
  });
});

test('who was held up catches up in order: a late return never overtakes its payment', async () => {
  const owner = await house.addTenant('org_without_clock');
  rig.onLine.send = async () => {
    throw new Error('the line is cut');
  };
  const neighbour = await house.addTenant('org_next_door');
  const first = await house.pay(owner, { sourceId: 'pm_test_ach_late_return_r01' });
  const histories = async (ids: string[]) =>
    Promise.all(ids.map(async (id) => historyOf(await house.get(owner, id))));
  await expect.poll(() => histories([first])).toEqual(['pending > processing']);
  // Behind a file that cannot leave, the next one fills up.
  const ids = [first, await house.pay(owner, { destinationId: 'pm_test_ach_late_return_r02' })];
  const other = await house.pay(neighbour);
  const queued = () =>
    house.database.query(
      `update ach_entries set due_at = $2 where payment_id = any($1) and state = 'queued'`,
      [[ids[1], other], new Date()],
    );
  await expect.poll(async () => (await queued()).rowCount).toBe(2);
  // Much longer than a payment and its late return take.
  await new Promise((done) => setTimeout(done, 1_500));
  rig.mendLine();
  await expect
    .poll(() => histories(ids))
    .toEqual(ids.map(() => 'pending > processing > completed > returned'));
  const { rows } = await house.database.query(
    `select count(*)::int as entries, count(distinct tenant_id)::int as owners from ach_entries
     where payment_id = any($1) and leg = 'debit' group by file_id order by 1`,
    [[...ids, other]],
  );
  expect(rows).toEqual([
    { entries: 1, owners: 1 },
    { entries: 2, owners: 2 },
  ]);
  const messages = house.messages;
  for (const { content } of await messages.list(neighbour, other)) {
    const read = readNacha(content);
    expect(read.ok && read.file.batches.flatMap((batch) => batch.entries)).toHaveLength(1);
  }
  expect(await messages.list(owner, other)).toEqual([]);
});

describe('late', () => {
  test('an old file among answers: each is read as of its own hour', async () => {
    const { id, file } = await rig.takeReturn();
    const [old, hour] = [fromNewYork('2083-01-04', '09:00'), fromNewYork('2083-03-02', '08:30')];
    await house.database.query(
      `insert into sandbox_ach_outbox (mailbox, name, content, created_at) values ($1, 'old.ach', '', $2)`,
      [tenant.id, old],
    );
    rig.mendLine();
    await house.moveClock(tenant, fromNewYork('2083-03-02', '09:00'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect((await rig.quarantined()).map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/no entries/),
    ]);
    const { rows } = await house.database.query('select name, as_of from ach_answers where scope = $1', [
      tenant.id,
    ]);
    expect(rows).toEqual([{ name: file.name, as_of: hour }]);
  });

  test('entries that are queued while a later step is under way leave each as of its own hour', async () => {
    const ids = [await rig.pay(), await rig.pay({ prefer: 'speed' })];
    const later = fromNewYork('2083-03-03', '10:30');
    await rig.setClock('2083-03-03', '10:30');
    expect(await fileDue(house.context, tenant.id, later)).toBe(1);
    expect(await fileDue(house.context, tenant.id, later)).toBe(1);
    await sendFiles(house.context, tenant.id);
    const { rows } = await house.database.query(
      'select as_of, refusal from ach_files where scope = $1 order by id',
      [tenant.id],
    );
    expect(rows).toEqual(
      ['10:15', '22:30'].map((hour) => ({ as_of: fromNewYork('2083-03-01', hour), refusal: null })),
    );
    await house.moveClock(tenant, fromNewYork('2083-03-05', '12:00'));
    for (const id of ids)
      expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
  });

  test('only what was at the bank before its answers were fetched settles', async () => {
    const [early, late] = [await rig.pay({ prefer: 'speed' }), await rig.pay()];
    const now = fromNewYork('2083-03-01', '23:00');
    await rig.setClock('2083-03-02', '12:00');
    while ((await fileDue(house.context, tenant.id, now)) > 0) await sendFiles(house.context, tenant.id);
    const [first] = await filesOf(tenant);
    const settling = {
      scope: tenant.id,
      asOf: fromNewYork('2083-03-02', '12:00'),
      fileIds: [first?.id ?? ''],
    };
    expect(await settleDue(house.context, settling)).toBe(1);
    expect(await rig.states(early)).toEqual(['credit queued', 'debit settled']);
    expect(await rig.states(late)).toEqual(['debit sent']);
  });
});

describe('refusals', () => {
  test('an account whose sealing key is gone fails its own payment and holds up no other', async () => {
    const bad = await rig.pay({ sourceId: 'pm_sealed_by_a_lost_key' });
    const good = await rig.pay();
    await house.database.query(
      `update payment_methods set account_sealed = overlay(account_sealed placing '\\x00000000' from 2)
       where tenant_id = $1 and id = 'pm_sealed_by_a_lost_key'`,
      [tenant.id],
    );
    await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
    expect(await house.get(tenant, bad)).toMatchObject({
      status: 'failed',
      failure: { code: 'account_number_invalid' },
    });
    expect(historyOf(await house.get(tenant, good))).toBe('pending > processing');
    expect(house.alerts).toHaveLength(1);
  });

  test('so does a file', async () => {
    const id = await rig.pay();
    rig.onLine.send = async () => {
      throw new Error('the line is cut');
    };
    await rig.setClock('2083-03-01', '23:00');
    await expect(tick(house.context, tenant.id)).rejects.toThrow('the line is cut');
    await house.database.query(
      `update ach_files set content_sealed = overlay(content_sealed placing '\\x00000000' from 2) where scope = $1`,
      [tenant.id],
    );
    await tick(house.context, tenant.id);
    expect(await house.get(tenant, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'file_refused' },
    });
  });

  test('an entry that no bank would take fails by itself', async () => {
    const bank = {
      routingNumber: '110000000',
      accountNumber: '1'.repeat(18),
      accountType: 'checking' as const,
      holderName: 'Too Long',
      holderType: 'individual' as const,
    };
    const account = await house.addAccount(tenant, bank);
    const bad = await rig.pay({ sourceId: account });
    const good = await rig.pay();
    await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
    expect(await house.get(tenant, bad)).toMatchObject({
      status: 'failed',
      failure: { code: 'account_number_invalid', network_code: null },
    });
    expect(historyOf(await house.get(tenant, good))).toBe('pending > processing');
  });

  test('a credit that cannot be written after its debit was collected: the money goes back', async () => {
    const bank = {
      routingNumber: '110000000',
      accountNumber: '1'.repeat(18),
      accountType: 'savings' as const,
      holderName: 'Too Long',
      holderType: 'business' as const,
    };
    const account = await house.addAccount(tenant, bank);
    const id = await rig.pay({ destinationId: account });
    await house.moveClock(tenant, fromNewYork('2083-03-08', '12:00'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect(await rig.states(id)).toEqual(['credit canceled', 'debit settled', 'refund settled']);
  });

  test('a refund that cannot be written stays here, and somebody is told', async () => {
    const id = await rig.pay({ sourceId: 'pm_too_long_later', destinationId: 'pm_test_ach_return_r03' });
    await house.moveClock(tenant, fromNewYork('2083-03-03', '12:00'));
    const key = { tenantId: tenant.id, id: 'pm_too_long_later' };
    await house.database.transaction((tx) =>
      house.methods.applyCorrection(tx, key, { accountNumber: '1'.repeat(18) }, new Date()),
    );
    await house.moveClock(tenant, fromNewYork('2083-03-20', '12:00'));
    expect(await rig.states(id)).toEqual(['credit returned', 'debit settled', 'refund canceled']);
    expect(house.alerts).toMatchObject([
      { fields: { paymentId: id }, message: expect.stringContaining('refund cannot be written') },
    ]);
  });

  test('a file that the bank takes nothing of: its payments fail, with an alert', async () => {
    const id = await rig.pay();
    rig.onLine.send = async () => ({ ok: false, reasons: ['Batch 1: The company is unknown.'] });
    await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
    expect(await house.get(tenant, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'file_refused' },
    });
    expect(await rig.states(id)).toEqual(['debit refused']);
    expect(house.alerts).toHaveLength(1);
  });

  test('[P-5.16] a file that was rejected stays so for a worker that notes late that it left', async () => {
    const id = await rig.pay();
    await rig.setClock('2083-03-01', '23:00');
    rig.onLine.send = async (file) => {
      rig.mendLine();
      const result = await rig.operatorLine().send(file);
      // Meanwhile another worker hands it over and notes it, and the operator rejects it.
      await sendFiles(house.context, tenant.id);
      const [stored] = await filesOf(tenant);
      await house.rejectFile(stored?.id ?? '', { reason: 'Not readable.', resend: false });
      return result;
    };
    await tick(house.context, tenant.id);
    expect(await filesOf(tenant)).toMatchObject([{ refusal: 'Not readable.' }]);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
  });

  test('a debit that comes back before its refund has left takes the refund with it', async () => {
    const id = await rig.pay({
      sourceId: 'pm_test_ach_late_return_r02',
      destinationId: 'pm_test_ach_return_r03',
    });
    await house.moveClock(tenant, fromNewYork('2083-03-03', '12:00'));
    expect(await rig.states(id)).toEqual(['credit returned', 'debit settled', 'refund queued']);
    await house.moveClock(tenant, fromNewYork('2083-03-20', '12:00'));
    expect(await rig.states(id)).toEqual(['credit returned', 'debit returned', 'refund canceled']);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect(house.alerts).toEqual([]);
  });

  test('a refund that comes back raises an alert and moves no payment', async () => {
    const id = await rig.pay({ sourceId: 'pm_closed_later', destinationId: 'pm_test_ach_return_r03' });
    await house.moveClock(tenant, fromNewYork('2083-03-03', '12:00'));
    const key = { tenantId: tenant.id, id: 'pm_closed_later' };
    await house.database.transaction((tx) =>
      house.methods.applyCorrection(tx, key, { accountNumber: 'TRTR02123456' }, new Date()),
    );
    await house.moveClock(tenant, fromNewYork('2083-03-20', '12:00'));
    expect(await rig.states(id)).toEqual(['credit returned', 'debit settled', 'refund returned']);
    expect(house.alerts.map(({ message }) => message)).toEqual([expect.stringContaining('refund came back')]);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
  });
});
