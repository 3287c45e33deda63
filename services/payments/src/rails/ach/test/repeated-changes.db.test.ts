// A notification of change is applied once, whatever file it comes in: said again later it would undo a newer one.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { originalOf } from '../incoming/notify.ts';
import { readAnswer } from '../incoming/reading.ts';
import { writeNacha } from '../nacha/write.ts';
import { answerFile } from '../operator/answers.ts';
import { SANDBOX_ORIGINATOR } from '../outgoing/originator.ts';
import { applyTo } from './asides.ts';
import { createHouse, type House } from './house.ts';

let house: House;
let tenant: Tenant;
let account: string;
let organisations = 0;
let files = 0;

beforeAll(async () => {
  house = await createHouse();
  await house.startWorking();
});
afterAll(() => house.close());
beforeEach(async () => {
  organisations += 1;
  house.alerts.length = 0;
  await house.database.query('delete from rail_quarantine');
  tenant = await house.addTenant(`org_repeated_${organisations}`);
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
  account = await house.addAccount(tenant, {
    ...{ routingNumber: '021000021', accountNumber: '000000000111', accountType: 'checking' },
    ...{ holderName: 'Ada Lovelace', holderType: 'individual' },
  });
});

/** A payment whose debit left before noon of this day. */
async function paidOn(date: string): Promise<string> {
  const id = await house.pay(tenant, { sourceId: account });
  await house.idle();
  await house.moveClock(tenant, fromNewYork(date, '12:00'));
  return id;
}

/** A file that corrects the account to the number after the one that the debit carried; no two have the same bytes. */
async function changeOf(id: string, { times = 1 }: { times?: number } = {}): Promise<string> {
  const { database, context } = house;
  files += 1;
  const entries = await findEntriesOf(database, [{ tenantId: tenant.id, id }]);
  const sentAs = entries.find(({ leg }) => leg === 'debit')?.sentAs;
  if (!sentAs) throw new Error(`the debit of ${id} was not sent`);
  const original = await originalOf(database, context, sentAs);
  const answers = Array.from({ length: times }, (_, index) => ({
    ...{ id: files * 10 + index, kind: 'noc' as const, code: 'C01', original },
  }));
  const options = { asOf: fromNewYork('2083-03-02', '12:00'), originator: SANDBOX_ORIGINATOR, sequence: 1 };
  return writeNacha(answerFile(answers, options));
}

/** Why each entry was put aside, and its text. */
async function read(content: string) {
  const file = { name: house.context.newId('answer'), content };
  const { now: asOf } = await house.sandbox.readClock(tenant);
  const reading = await house.database.transaction((tx) =>
    readAnswer(tx, house.context, { scope: tenant.id, file, asOf }),
  );
  if (reading.status !== 'read') throw new Error(`the file was ${reading.status}`);
  return reading.aside.map(({ reason, content: text }) => ({ reason, text }));
}

/** A payment whose debit has left; when it settles, its bank notifies of a change. */
async function paidFromMoved(): Promise<string> {
  const id = await house.pay(tenant, { sourceId: 'pm_test_ach_noc_c01' });
  await house.idle();
  await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
  return id;
}

/** What became of it. */
async function afterSettlement(id: string) {
  await house.moveClock(tenant, fromNewYork('2083-03-05', '12:00'));
  const { status } = await house.get(tenant, id);
  return { status, notices: await notices(id), quarantined: await quarantined(), alerts: house.alerts };
}

async function accountNumber(): Promise<string> {
  return house.methods.openAccountNumber((await house.methods.get(tenant, account)).method);
}

async function updates(): Promise<number | null> {
  const { rowCount } = await house.database.query(
    `select from events where subject_id = $1 and type = 'payment_method.updated'`,
    [account],
  );
  return rowCount;
}

async function notices(id: string): Promise<number> {
  return (await house.messages.list(tenant, id)).filter(({ kind }) => kind === 'noc').length;
}

async function quarantined(): Promise<number | null> {
  return (await house.database.query('select from rail_quarantine')).rowCount;
}

describe('[P-5.13] a notification by order', () => {
  test('comes in place of the same one that the bank would have sent later', async () => {
    const id = await paidFromMoved();
    await house.force(tenant, id, 'notify_of_change', 'C01');
    expect(await notices(id)).toBe(1);
    const after = { status: 'completed', notices: 1, quarantined: 0, alerts: [] };
    expect(await afterSettlement(id)).toEqual(after);
  });

  test('does nothing where the same one of the bank lies there already', async () => {
    const id = await paidFromMoved();
    const line = house.operator.connect(tenant.id, 'calendar');
    const { files } = await line.collect(fromNewYork('2083-03-02', '08:30'));
    expect(files).toHaveLength(1);
    await house.force(tenant, id, 'notify_of_change', 'C01');
    expect(await notices(id)).toBe(0);
    await house.moveClock(tenant, fromNewYork('2083-03-02', '08:30'));
    expect(await notices(id)).toBe(1);
    // And nothing more once it was read.
    await house.force(tenant, id, 'notify_of_change', 'C01');
    const after = { status: 'completed', notices: 1, quarantined: 0, alerts: [] };
    expect(await afterSettlement(id)).toEqual(after);
  });

  test('of something else comes beside the one of the bank', async () => {
    const id = await paidFromMoved();
    await house.force(tenant, id, 'notify_of_change', 'C02');
    const after = { status: 'completed', notices: 2, quarantined: 0, alerts: [] };
    expect(await afterSettlement(id)).toEqual(after);
  });
});

describe('[P-5.13] a notification that comes a second time', () => {
  test('in another file is put aside, and undoes no newer one', async () => {
    const first = await paidOn('2083-03-02');
    expect(await read(await changeOf(first))).toEqual([]);
    const second = await paidOn('2083-03-04');
    expect(await read(await changeOf(second))).toEqual([]);
    expect(await accountNumber()).toBe('000000000113');
    const [aside, ...others] = await read(await changeOf(first));
    expect([aside?.reason, others]).toEqual([expect.stringContaining('was applied before'), []]);
    expect([await accountNumber(), await updates(), await notices(first)]).toEqual(['000000000113', 2, 1]);
    const applied = await applyTo(house, tenant, { id: first, content: aside?.text ?? '' });
    expect(applied).toEqual({ ok: false, reason: 'It was applied before.' });
    expect([await accountNumber(), await notices(first)]).toEqual(['000000000113', 1]);
  });

  test('in one file is put aside', async () => {
    const id = await paidOn('2083-03-02');
    const aside = await read(await changeOf(id, { times: 2 }));
    expect(aside).toMatchObject([{ reason: expect.stringContaining('was applied before') }]);
    expect([await accountNumber(), await updates(), await notices(id)]).toEqual(['000000000112', 1, 1]);
  });

  test('and says something else is applied', async () => {
    const id = await paidOn('2083-03-02');
    expect(await read(await changeOf(id))).toEqual([]);
    const other = (await changeOf(id)).replace('000000000112', '000000000222');
    expect(await read(other)).toEqual([]);
    expect([await accountNumber(), await updates(), await notices(id)]).toEqual(['000000000222', 2, 2]);
  });

  test('after an operator applied it to its payment is put aside', async () => {
    const id = await paidOn('2083-03-02');
    const strayed = (await changeOf(id)).replace(/^(798C01)\d{15}/m, '$1110000007777777');
    const [aside] = await read(strayed);
    expect(await applyTo(house, tenant, { id, content: aside?.text ?? '' })).toEqual({ ok: true });
    expect(await accountNumber()).toBe('000000000112');
    expect(await read(await changeOf(id))).toMatchObject([
      { reason: expect.stringContaining('was applied before') },
    ]);
  });

  describe('is none where that was put aside', () => {
    const TO_OTHER_NUMBER = ['000000000112', '000000000222'] as const;

    /** A file with two changes of one trace and code: the first is put aside, the second applied. Answers the first. */
    async function readBoth(id: string, spoil: (batch: string) => string): Promise<string> {
      const [header, ...batches] = (await changeOf(id)).split(/^(?=5)/m);
      const strayed = spoil((await changeOf(id)).replace(...TO_OTHER_NUMBER)).match(/^5[\s\S]*?^8.*\n/m);
      const aside = await read([header, strayed, ...batches].join(''));
      expect(aside).toMatchObject([{ reason: expect.stringContaining('bank, direction or amount') }]);
      expect(await accountNumber()).toBe('000000000112');
      return aside[0]?.text ?? '';
    }

    async function expectBothKnown(id: string): Promise<void> {
      expect([await accountNumber(), await updates(), await notices(id)]).toEqual(['000000000222', 2, 2]);
      const again = [await changeOf(id), (await changeOf(id)).replace(...TO_OTHER_NUMBER)];
      for (const content of again)
        expect(await read(content)).toMatchObject([
          { reason: expect.stringContaining('was applied before') },
        ]);
    }

    test('for its bank, and an operator applies it', async () => {
      const id = await paidOn('2083-03-02');
      const content = await readBoth(id, (batch) => batch.replace(/^(798C01.{21})\d{8}/m, '$112104288'));
      expect(await applyTo(house, tenant, { id, content })).toEqual({ ok: true });
      await expectBothKnown(id);
      expect(await applyTo(house, tenant, { id, content })).toMatchObject({ ok: false });
    });

    test('for its direction, and the bank sends it as it should be', async () => {
      const id = await paidOn('2083-03-02');
      await readBoth(id, (batch) => batch.replace(/^626/m, '621'));
      expect(await read((await changeOf(id)).replace(...TO_OTHER_NUMBER))).toEqual([]);
      await expectBothKnown(id);
    });
  });

  test('by order does nothing', async () => {
    const id = await paidOn('2083-03-02');
    await house.force(tenant, id, 'notify_of_change', 'C01');
    const before = [await accountNumber(), await updates(), await quarantined()];
    await house.force(tenant, id, 'notify_of_change', 'C01');
    expect([await accountNumber(), await updates(), await quarantined()]).toEqual(before);
    expect(await notices(id)).toBe(1);
  });

  test('is applied where no key opens the file that it may have stood in', async () => {
    const id = await paidOn('2083-03-02');
    expect(await read(await changeOf(id))).toEqual([]);
    await house.database.query(
      `update ach_answers set content_sealed = overlay(content_sealed placing decode('0badbeef', 'hex') from 2)
       where scope = $1`,
      [tenant.id],
    );
    expect(await read(await changeOf(id))).toEqual([]);
  });
});
