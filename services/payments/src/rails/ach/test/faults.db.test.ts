// What goes wrong on the way: crashes between steps, lost lines, and files that no bank should have sent.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import { createQuarantine } from '../../../quarantine/service.ts';
import type { Tenant } from '../../../tenant.ts';
import type { AchTransport, InboundFile } from '../bank/transport.ts';
import { readNacha } from '../nacha/read.ts';
import { writeNacha } from '../nacha/write.ts';
import { fileDue } from '../outgoing/filing.ts';
import { sendFiles } from '../outgoing/sending.ts';
import { tick } from '../work/tick.ts';
import { createHouse, type House, type HouseOptions, historyOf } from './house.ts';

let house: House;
let tenant: Tenant;
/** What stands on the line at the moment. */
let onLine: Partial<AchTransport>;

const wrap: HouseOptions['wrap'] = (transport) => ({
  send: (file) => (onLine.send ?? transport.send)(file),
  collect: (asOf) => (onLine.collect ?? transport.collect)(asOf),
  acknowledge: (name) => (onLine.acknowledge ?? transport.acknowledge)(name),
  nextAnswerAt: () => (onLine.nextAnswerAt ?? transport.nextAnswerAt)(),
});

/** The operator, past what stands on the line. */
function operatorLine(): AchTransport {
  return house.operator.connect(tenant.id, 'calendar');
}

let tenants = 0;

beforeAll(async () => {
  house = await createHouse({ wrap });
  await house.startWorking();
});
afterAll(() => house.close());
beforeEach(async () => {
  onLine = {};
  house.alerts.length = 0;
  await house.database.query('delete from rail_quarantine');
  tenants += 1;
  tenant = await house.addTenant(`org_faults_${tenants}`);
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
});

async function pay(input: Parameters<House['pay']>[1] = {}): Promise<string> {
  const id = await house.pay(tenant, input);
  await house.idle();
  return id;
}

/** Moves the clock without a worker's help: the test does the work itself. */
async function setClock(date: string, time: string): Promise<void> {
  await house.database.query('update organisations set clock_frozen_at = $2 where id = $1', [
    tenant.organisationId,
    fromNewYork(date, time),
  ]);
}

async function quarantined(): Promise<{ reason: string; content: string }[]> {
  const quarantine = createQuarantine(house.context);
  const listed = await quarantine.list({ rail: 'ach', status: null, before: null, limit: 100 });
  const whole = await Promise.all(listed.map(({ id }) => quarantine.get(id)));
  return whole.map(({ reason, content }) => ({ reason, content })).reverse();
}

async function states(id: string): Promise<string[]> {
  const { rows } = await house.database.query<{ leg: string; state: string }>(
    'select leg, state from ach_entries where payment_id = $1 order by leg',
    [id],
  );
  return rows.map(({ leg, state }) => `${leg} ${state}`);
}

/** Lets the next fetch find this file instead of the operator's. */
function deliver(...files: InboundFile[]): void {
  let waiting = files;
  onLine.collect = async () => waiting;
  onLine.acknowledge = async (name) => {
    waiting = waiting.filter((file) => file.name !== name);
  };
  onLine.nextAnswerAt = async () => (waiting.length > 0 ? new Date(0) : null);
}

describe('crashes', () => {
  test('between the commit of a file and its sending: it is sent once, and its payment settles once', async () => {
    const id = await pay();
    let attempts = 0;
    onLine.send = async () => {
      attempts += 1;
      throw new Error('the line is cut');
    };
    await setClock('2083-03-05', '12:00');
    await expect(tick(house.context, tenant.id)).rejects.toThrow('the line is cut');
    // Days have passed, but nothing settles before the file has left.
    await expect(tick(house.context, tenant.id)).rejects.toThrow('the line is cut');
    expect(attempts).toBe(2);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing');
    expect(await states(id)).toEqual(['debit sent']);
    onLine = {};
    await tick(house.context, tenant.id);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
    expect((await house.get(tenant, id)).attempts[0]?.settled_at).toBe(
      fromNewYork('2083-03-03', '08:30').toISOString(),
    );
  });

  test('between the sending and the note of it: the operator takes the file once', async () => {
    const id = await pay({ sourceId: 'pm_test_ach_return_r01' });
    const sent: string[] = [];
    onLine.send = async (file) => {
      sent.push(file.name);
      await operatorLine().send(file);
      if (sent.length === 1) throw new Error('died after sending');
      return { ok: true };
    };
    await setClock('2083-03-02', '12:00');
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
    const id = await pay({ destinationId: 'pm_test_ach_noc_c01' });
    let refused = 0;
    onLine.acknowledge = async (name) => {
      refused += 1;
      if (refused === 1) throw new Error('died before saying so');
      return operatorLine().acknowledge(name);
    };
    await setClock('2083-03-05', '12:00');
    await expect(tick(house.context, tenant.id)).rejects.toThrow('died before saying so');
    await tick(house.context, tenant.id);
    expect(refused).toBe(2);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
    const { rows } = await house.database.query('select kind, code from ach_replies where payment_id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ kind: 'noc', code: 'C01' }]);
    expect(await quarantined()).toEqual([]);
  });

  test.each([
    ['after the other has fetched answers', false],
    ['while the other fetches answers', true],
  ])('none settles what another is just sending: it arrives %s', async (_name, isMeanwhile) => {
    const id = await pay({ sourceId: 'pm_test_ach_return_r01' });
    await setClock('2083-03-05', '12:00');
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
    onLine.collect = async (asOf) => {
      const answers = await operatorLine().collect(asOf);
      onLine = {};
      if (isMeanwhile) await sendFiles(house.context, tenant.id);
      return answers;
    };
    await tick(context, tenant.id);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect(await states(id)).toEqual(['debit returned']);
  });

  test('ten workers at once move every payment once', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => house.pay(tenant)));
    await house.idle();
    await setClock('2083-03-04', '12:00');
    await Promise.all(Array.from({ length: 10 }, () => tick(house.context, tenant.id)));
    for (const id of ids) {
      expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
      expect(await states(id)).toEqual(['credit settled', 'debit settled']);
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
  onLine.send = async () => {
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
  onLine = {};
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

/** The return file that the operator made for a payment, which has not been read. */
async function takeReturn(): Promise<{ id: string; file: InboundFile }> {
  const id = await pay({ amount: 55_55, sourceId: 'pm_test_ach_return_r01' });
  onLine.collect = async () => [];
  onLine.nextAnswerAt = async () => null;
  await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
  const [file] = await operatorLine().collect(fromNewYork('2083-03-02', '08:30'));
  if (!file) throw new Error('the operator has no answer');
  return { id, file };
}

describe('answers that cannot be believed', () => {
  const changed = (file: InboundFile, change: (text: string) => string): InboundFile => ({
    ...file,
    content: change(file.content),
  });

  /** The same file with one entry changed, and every sum right. */
  function rewritten(file: InboundFile, change: (entry: Record<string, unknown>) => object): InboundFile {
    const read = readNacha(file.content);
    if (!read.ok) throw new Error('the operator writes good files');
    const batches = read.file.batches.map((batch) => ({
      ...batch,
      entries: batch.entries.map((entry) => ({ ...entry, ...change(entry) })),
    }));
    return { ...file, content: writeNacha({ ...read.file, batches }) };
  }

  test.each<[string, (file: InboundFile) => InboundFile, RegExp]>([
    ['truncated', (file) => changed(file, (text) => text.slice(0, 3 * 95 + 12)), /no such entry/],
    ['empty', (file) => changed(file, () => ''), /no entries/],
    ['garbled', (file) => changed(file, (text) => text.replace('799R01', '799R\u0000!')), /no code/],
    ['not a file at all', (file) => changed(file, () => '<html>504</html>'), /no entries/],
    ['for another amount', (file) => rewritten(file, () => ({ amountCents: 1 })), /amount/],
    [
      'for an entry that we never sent',
      (file) =>
        rewritten(file, ({ addenda }) => ({
          addenda: (addenda as object[]).map((one) => ({ ...one, originalTrace: '110000009999999' })),
        })),
      /no such entry/,
    ],
    [
      'from a bank that we did not send to',
      (file) =>
        rewritten(file, ({ addenda }) => ({
          addenda: (addenda as object[]).map((one) => ({ ...one, originalRdfi: '12104288' })),
        })),
      /bank, direction or amount/,
    ],
    [
      'an answer between banks',
      (file) =>
        rewritten(file, ({ addenda }) => ({
          addenda: (addenda as object[]).map((one) => ({ ...one, code: 'R61' })),
        })),
      /R61/,
    ],
  ])('%s: quarantined with its reason, nothing applied', async (_name, spoil, reason) => {
    const { id, file } = await takeReturn();
    const spoiled = spoil(file);
    deliver(spoiled);
    await setClock('2083-03-02', '08:29');
    await tick(house.context, tenant.id);
    const [aside, ...others] = await quarantined();
    expect([aside?.reason, others]).toEqual([expect.stringMatching(reason), []]);
    // Nothing but the one entry, with the header that it stands under.
    for (const line of aside?.content.split('\n') ?? [])
      expect(spoiled.content.split('\n').map((one) => one.trimEnd())).toContain(line);
    expect(house.alerts).toEqual([
      {
        fields: expect.objectContaining({
          alert: 'rail_quarantine',
          rail: 'ach',
          reason: expect.stringMatching(reason),
        }),
        message: expect.any(String),
      },
    ]);
    expect(JSON.stringify(house.alerts)).not.toContain('TRTR01');
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing');
    expect(await states(id)).toEqual(['debit sent']);
    // The true file is still good.
    onLine = {};
    await house.moveClock(tenant, fromNewYork('2083-03-02', '08:30'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
  });

  test('replayed, under its own name and another: quarantined each time, applied once', async () => {
    const { id, file } = await takeReturn();
    deliver(file);
    await setClock('2083-03-02', '08:30');
    await tick(house.context, tenant.id);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    // Within a minute it would be the same delivery, fetched by two workers.
    await house.database.query(`update ach_answers set acknowledged_at = now() - interval '2 minutes'`);
    deliver(file, { ...file, name: 'again.ach' });
    await tick(house.context, tenant.id);
    expect((await quarantined()).map(({ reason }) => reason)).toEqual([
      expect.stringContaining('read before'),
      expect.stringContaining('read before'),
    ]);
    const { rows } = await house.database.query('select kind from ach_replies where payment_id = $1', [id]);
    expect(rows).toEqual([{ kind: 'return' }]);
  });

  test('[P-5.13] one bad answer among good ones is put aside alone', async () => {
    const { id, file } = await takeReturn();
    const read = readNacha(file.content);
    const batch = read.ok ? read.file.batches[0] : undefined;
    if (!read.ok || !batch) throw new Error('the operator writes good files');
    const twice = [batch, { ...batch, header: { ...batch.header, batchNumber: 2 } }];
    deliver({ name: 'twice.ach', content: writeNacha({ ...read.file, batches: twice }) });
    await setClock('2083-03-02', '08:29');
    await tick(house.context, tenant.id);
    expect((await quarantined()).map(({ reason }) => reason)).toEqual([
      expect.stringContaining('the entry is returned'),
    ]);
    expect(await states(id)).toEqual(['debit returned']);
  });

  test.each<[string, (text: string) => string]>([
    ['a header that names others', (text) => text.replace('110000000', '121042882')],
    ['a company number as origin', (text) => text.replace(/ 061000146/, '1234567890')],
    ['no headers and no controls', (text) => text.replaceAll(/^[159].*\n/gm, '')],
    ['no padding', (text) => text.replaceAll(/^9{94}\n/gm, '')],
    ['lower case', (text) => text.toLowerCase()],
    ['extended ASCII in a name', (text) => text.replace('Test Account', 'T\u00e9st Acc\u00f6unt')],
    ['wrong sums', (text) => text.replaceAll(/^8(\d{3})\d{6}/gm, '8$1999999')],
    ['lines that end early', (text) => text.replaceAll(/ +$/gm, '')],
    ['other line ends', (text) => text.replaceAll('\n', '\r\n')],
    ['no line ends', (text) => text.replaceAll('\n', '')],
    ['a code that we do not know', (text) => text.replace('799R01', '799R98')],
  ])('[P-5.13] %s stops nothing', async (name, change) => {
    const { id, file } = await takeReturn();
    const odd = changed(file, change);
    expect(odd.content).not.toBe(file.content);
    deliver(odd);
    await setClock('2083-03-02', '08:29');
    await tick(house.context, tenant.id);
    expect(await quarantined()).toEqual([]);
    const payment = await house.get(tenant, id);
    expect(payment).toMatchObject({
      status: 'failed',
      failure: { network_code: name.startsWith('a code') ? 'R98' : 'R01' },
    });
    const message = (await house.messages.list(tenant, id)).find(({ kind }) => kind === 'return');
    expect(message?.content).toMatch(/799r(01|98)/i);
  });
});

describe('late', () => {
  test('an old file among answers: each is read as of its own hour', async () => {
    const { id, file } = await takeReturn();
    const [old, hour] = [fromNewYork('2083-01-04', '09:00'), fromNewYork('2083-03-02', '08:30')];
    await house.database.query(
      `insert into sandbox_ach_outbox (mailbox, name, content, created_at) values ($1, 'old.ach', '', $2)`,
      [tenant.id, old],
    );
    onLine = {};
    await house.moveClock(tenant, fromNewYork('2083-03-02', '09:00'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect((await quarantined()).map(({ reason }) => reason)).toEqual([expect.stringMatching(/no entries/)]);
    const { rows } = await house.database.query('select name, as_of from ach_answers where scope = $1', [
      tenant.id,
    ]);
    expect(rows).toEqual([{ name: file.name, as_of: hour }]);
  });

  test('an entry that is queued while a later step is under way leaves as of its own hour', async () => {
    const id = await pay();
    const [due, later] = [fromNewYork('2083-03-01', '22:30'), fromNewYork('2083-03-03', '10:30')];
    await fileDue(house.context, tenant.id, later);
    await sendFiles(house.context, tenant.id);
    const { rows } = await house.database.query('select as_of, refusal from ach_files where scope = $1', [
      tenant.id,
    ]);
    expect(rows).toEqual([{ as_of: due, refusal: null }]);
    await house.moveClock(tenant, fromNewYork('2083-03-05', '12:00'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
  });
});

describe('refusals', () => {
  test('an account whose sealing key is gone fails its own payment and holds up no other', async () => {
    const bad = await pay({ sourceId: 'pm_sealed_by_a_lost_key' });
    const good = await pay();
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
    const id = await pay();
    onLine.send = async () => {
      throw new Error('the line is cut');
    };
    await setClock('2083-03-01', '23:00');
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
    const bad = await pay({ sourceId: account });
    const good = await pay();
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
    const id = await pay({ destinationId: account });
    await house.moveClock(tenant, fromNewYork('2083-03-08', '12:00'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect(await states(id)).toEqual(['credit canceled', 'debit settled', 'refund settled']);
  });

  test('a file that the bank takes nothing of: its payments fail, with an alert', async () => {
    const id = await pay();
    onLine.send = async () => ({ ok: false, reasons: ['Batch 1: The company is unknown.'] });
    await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
    expect(await house.get(tenant, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'file_refused' },
    });
    expect(await states(id)).toEqual(['debit refused']);
    expect(house.alerts).toHaveLength(1);
  });

  test('a debit that comes back before its refund has left takes the refund with it', async () => {
    const id = await pay({
      sourceId: 'pm_test_ach_late_return_r02',
      destinationId: 'pm_test_ach_return_r03',
    });
    await house.moveClock(tenant, fromNewYork('2083-03-03', '12:00'));
    expect(await states(id)).toEqual(['credit returned', 'debit settled', 'refund queued']);
    await house.moveClock(tenant, fromNewYork('2083-03-20', '12:00'));
    expect(await states(id)).toEqual(['credit returned', 'debit returned', 'refund canceled']);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect(house.alerts).toEqual([]);
  });

  test('a refund that comes back raises an alert and moves no payment', async () => {
    const id = await pay({ sourceId: 'pm_closed_later', destinationId: 'pm_test_ach_return_r03' });
    await house.moveClock(tenant, fromNewYork('2083-03-03', '12:00'));
    const key = { tenantId: tenant.id, id: 'pm_closed_later' };
    await house.database.transaction((tx) =>
      house.methods.applyCorrection(tx, key, { accountNumber: 'TRTR02123456' }, new Date()),
    );
    await house.moveClock(tenant, fromNewYork('2083-03-20', '12:00'));
    expect(await states(id)).toEqual(['credit returned', 'debit settled', 'refund returned']);
    expect(house.alerts.map(({ message }) => message)).toEqual([expect.stringContaining('refund came back')]);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
  });
});
