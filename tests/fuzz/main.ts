// npm run fuzz [-- [target …] [--minutes=10] [--seed=…]]: every parser for minutes instead of moments.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeFinding, fuzz } from './fuzz.ts';
import { targets } from './targets.ts';

const MINUTES = 2;
const INPUT_KEPT_BYTES_MAX = 256 * 1024;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string' }, seed: { type: 'string' } },
});
const minutes = Number(values.minutes ?? MINUTES);
const seed = Number(values.seed ?? Date.now() % 2 ** 32);
const wanted = targets.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (wanted.length === 0 || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error(
    `fuzz [target …] [--minutes=${MINUTES}] [--seed=1]\n  ${targets.map(({ name }) => name).join(' ')}`,
  );
  process.exit(2);
}
console.log(`seed ${seed}, ${minutes} min for each of ${wanted.length}`);
for (const target of wanted) {
  const { inputs, slowestMs, finding } = await fuzz(target, { seed, forMs: minutes * 60_000 });
  console.log(
    `${target.name.padEnd(12)} ${String(inputs).padStart(9)} inputs, slowest ${slowestMs.toFixed(1)} ms`,
  );
  if (finding) {
    process.exitCode = 1;
    console.error(describeFinding(finding, seed));
    if (finding.input.length <= INPUT_KEPT_BYTES_MAX) {
      const name = createHash('sha256').update(finding.input).digest('hex').slice(0, 12);
      const file = `corpus/${target.name}/found-${name}`;
      writeFileSync(fileURLToPath(new URL(file, import.meta.url)), finding.input);
      console.error(`  kept as tests/fuzz/${file}: commit it with the mend`);
    }
  }
}
