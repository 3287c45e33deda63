// A file of 100,000 entries takes no more than a bounded amount of work (its time is a benchmark's), and a process that does nothing else stays under 200 MB: the
// runtime and the entries take about 125, so writing may add 75. Seen in a process of its own.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ENTRIES = 100_000;
/** CPU time, which a busy machine does not change; about 900 as measured. */
const WRITE_CPU_MS_MAX = 1_800;
const GROWTH_MB_MAX = 75;
const TRIES = 3;

const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);

// Peak memory is taken after the first write; the best of a few tries is the work, because machines are shared.
const PROGRAM = `
  const { writeNacha } = await import(${module('./write.ts')});
  const { readNacha } = await import(${module('./read.ts')});
  const entries = Array.from({ length: ${ENTRIES} }, (_, i) => ({
    transactionCode: '22', routingNumber: '231380104', accountNumber: String(1_000_000_000 + i),
    amountCents: i + 1, individualId: 'pay_' + i, individualName: 'Receiver ' + i, discretionaryData: '',
    trace: '12104288' + String(i + 1).padStart(7, '0'), addenda: [],
  }));
  const header = {
    serviceClass: '220', companyName: 'Acme', discretionaryData: '', companyId: '1234567890', sec: 'PPD',
    entryDescription: 'PAYMENT', descriptiveDate: '', effectiveDate: '261117', settlementDate: '',
    originatorStatus: '1', odfi: '12104288', batchNumber: 1,
  };
  const file = {
    header: {
      immediateDestination: '231380104', immediateOrigin: '121042882', creationDate: '261116',
      creationTime: '0930', idModifier: 'A', destinationName: 'Fed', originName: 'Bank', referenceCode: '',
    },
    batches: [{ header, entries }],
  };
  const peakMb = () => process.resourceUsage().maxRSS / 1024;
  const beforeMb = peakMb();
  let best = Infinity, growthMb = 0, text = '';
  for (let attempt = 0; attempt < ${TRIES}; attempt += 1) {
    const started = process.cpuUsage();
    text = writeNacha(file);
    const { user, system } = process.cpuUsage(started);
    best = Math.min(best, (user + system) / 1_000);
    growthMb ||= peakMb() - beforeMb;
  }
  const read = readNacha(text);
  const count = read.ok ? read.file.batches[0].entries.length : 0;
  console.log(JSON.stringify({ writeCpuMs: best, growthMb, length: text.length, count }));
`;

describe('writeNacha', () => {
  it(`writes ${ENTRIES} entries within ${WRITE_CPU_MS_MAX} ms of work and ${GROWTH_MB_MAX} MB`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM]);
    const { writeCpuMs, growthMb, length, count } = JSON.parse(stdout) as Record<string, number>;
    expect(count).toBe(ENTRIES);
    expect(length).toBe(Math.ceil((ENTRIES + 4) / 10) * 10 * 95);
    expect(writeCpuMs).toBeLessThan(WRITE_CPU_MS_MAX);
    expect(growthMb).toBeLessThan(GROWTH_MB_MAX);
  }, 60_000);
});
