import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Benchmark, median } from '../result.ts';

const ENTRIES = 100_000;
const ROUNDS = 3;
const SECONDS_MAX = 1;
const ADDED_MB_MAX = 200;

const writer = fileURLToPath(new URL('./ach-file-writer.ts', import.meta.url));

interface Written {
  seconds: number;
  addedMb: number;
  lines: number;
}

async function writeOnce(): Promise<Written> {
  const { stdout } = await promisify(execFile)(process.execPath, [writer, String(ENTRIES)]);
  const written = JSON.parse(stdout) as Written;
  if (written.lines !== ENTRIES) throw new Error(`the file holds ${written.lines} entries, not ${ENTRIES}`);
  return written;
}

/** From entries that are due to the text of their file: batches, traces, every check, hashes and totals. */
export const benchmark: Benchmark = {
  name: 'payments ach file',
  async run() {
    const rounds: Written[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await writeOnce());
    const what = `a NACHA file of ${ENTRIES.toLocaleString('en')} entries`;
    const seconds = median(rounds.map((round) => round.seconds));
    const addedMb = median(rounds.map((round) => round.addedMb));
    return [
      {
        id: 'A1',
        what: `${what}: time`,
        ours: seconds,
        other: null,
        unit: 's',
        bar: { kind: 'at most', value: SECONDS_MAX },
      },
      {
        id: 'A2',
        what: `${what}: memory added`,
        ours: addedMb,
        other: null,
        unit: 'MB',
        bar: { kind: 'at most', value: ADDED_MB_MAX },
      },
    ];
  },
};
