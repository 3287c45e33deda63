// Files that no bank should have sent: what cannot be believed is put aside, what is merely odd is read.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import type { InboundFile } from '../bank/transport.ts';
import { readAnswer } from '../incoming/reading.ts';
import { readNacha } from '../nacha/read.ts';
import { writeNacha } from '../nacha/write.ts';
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
    [
      'without the line of its entry',
      (file) => changed(file, (text) => text.replace(/^6.*\n/m, '')),
      /missing or spoiled/,
    ],
    ['with a spoiled one', (file) => changed(file, (text) => text.replace(/^6/m, ' ')), /missing or spoiled/],
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
    const { id, file } = await rig.takeReturn();
    const spoiled = spoil(file);
    rig.deliver(spoiled);
    await rig.setClock('2083-03-02', '08:29');
    await tick(house.context, tenant.id);
    const [aside, ...others] = await rig.quarantined();
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
    expect(await rig.states(id)).toEqual(['debit sent']);
    // The true file is still good.
    rig.mendLine();
    await house.moveClock(tenant, fromNewYork('2083-03-02', '08:30'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
  });

  test('a file in which the bank says that nothing came back is read, and is no alert', async () => {
    const { file } = await rig.takeReturn();
    const [header = ''] = file.content.split('\n');
    const control = `9${'000000'}${'000001'}${'0'.repeat(42)}`;
    const content = `${header}\n${control.padEnd(94)}\n`;
    rig.deliver({ name: 'nothing.ach', content }, { name: 'nothing-again.ach', content });
    await rig.setClock('2083-03-02', '08:29');
    await tick(house.context, tenant.id);
    rig.deliver({ name: 'nothing-at-noon.ach', content });
    await tick(house.context, tenant.id);
    expect(await rig.quarantined()).toEqual([]);
    const { rows } = await house.database.query('select name from ach_answers where scope = $1', [tenant.id]);
    expect(rows).toEqual([{ name: 'nothing.ach' }]);
  });

  test('replayed, under its own name and another: quarantined each time, applied once', async () => {
    const { id, file } = await rig.takeReturn();
    rig.deliver(file);
    await rig.setClock('2083-03-02', '08:30');
    await tick(house.context, tenant.id);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    // Under its own name it would be the same delivery for a minute, fetched by two workers.
    rig.deliver({ ...file, name: 'at-once.ach' });
    await tick(house.context, tenant.id);
    const reasons = async () => (await rig.quarantined()).map(({ reason }) => reason);
    expect(await reasons()).toEqual([expect.stringContaining('read before')]);
    await house.database.query(
      `update ach_answers set acknowledged_at = now() - interval '2 minutes' where acknowledged_at is not null`,
    );
    rig.deliver(file, { ...file, name: 'again.ach' });
    await tick(house.context, tenant.id);
    expect(await reasons()).toEqual(Array(3).fill(expect.stringContaining('read before')));
    const { rows } = await house.database.query('select kind from ach_replies where payment_id = $1', [id]);
    expect(rows).toEqual([{ kind: 'return' }]);
  });

  test('[P-5.13] one bad answer among good ones is put aside alone', async () => {
    const { id, file } = await rig.takeReturn();
    const read = readNacha(file.content);
    const batch = read.ok ? read.file.batches[0] : undefined;
    if (!read.ok || !batch) throw new Error('the operator writes good files');
    const twice = [batch, { ...batch, header: { ...batch.header, batchNumber: 2 } }];
    rig.deliver({ name: 'twice.ach', content: writeNacha({ ...read.file, batches: twice }) });
    await rig.setClock('2083-03-02', '08:29');
    await tick(house.context, tenant.id);
    expect((await rig.quarantined()).map(({ reason }) => reason)).toEqual([
      expect.stringContaining('the entry is returned'),
    ]);
    expect(await rig.states(id)).toEqual(['debit returned']);
  });

  /** Without line ends and padding. */
  const oneLine = (text: string) => text.replaceAll(/^9{94}\n/gm, '').replaceAll('\n', '');

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
    ['no line ends but the last', (text) => `${text.replaceAll('\n', '')}\r\n`],
    ['no line ends, and a carriage return in a name', (text) => oneLine(text).replace('SANDBOX', 'SAND\rOX')],
    ['no line ends, and no blanks behind its control', (text) => oneLine(text).trimEnd()],
    ['no line ends, and NULs behind its control', (text) => `${oneLine(text).trimEnd()}\0\0\0`],
    ['no line ends but one before the first record', (text) => `\n${oneLine(text)}`],
    ['a blank line after each', (text) => text.replaceAll('\n', '\n\n')],
    ['carriage returns alone', (text) => text.replaceAll('\n', '\r')],
    ['a code that we do not know', (text) => text.replace('799R01', '799R98')],
  ])('[P-5.13] %s stops nothing', async (name, change) => {
    const { id, file } = await rig.takeReturn();
    const odd = changed(file, change);
    expect(odd.content).not.toBe(file.content);
    rig.deliver(odd);
    await rig.setClock('2083-03-02', '08:29');
    await tick(house.context, tenant.id);
    expect(await rig.quarantined()).toEqual([]);
    const payment = await house.get(tenant, id);
    expect(payment).toMatchObject({
      status: 'failed',
      failure: { network_code: name.startsWith('a code') ? 'R98' : 'R01' },
    });
    const message = (await house.messages.list(tenant, id)).find(({ kind }) => kind === 'return');
    expect(message?.content).toMatch(/799r(01|98)/i);
  });

  test('an answer is read while nothing else works on its scope', async () => {
    const { file } = await rig.takeReturn();
    const { database, context } = house;
    const asOf = fromNewYork('2083-03-02', '08:30');
    const reading = await whileScopeIsBusy(house, tenant.id, () =>
      database.transaction((tx) => readAnswer(tx, context, { scope: tenant.id, file, asOf })),
    );
    expect(reading).toMatchObject({ status: 'read', aside: [] });
  });
});
