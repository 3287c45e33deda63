// Runs the code of the reference as it is pasted: all samples of a language in one process, each by itself.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CodeSample } from '@libs/docs';
import type { Track, World } from './follow.ts';

const run = promisify(execFile);
const LABELS: Readonly<Record<Track, string>> = { terminal: 'curl', node: 'Node', python: 'Python' };
const SAMPLES_MS_MAX = 100_000;

/** Each sample is a program of its own; a runner starts them one after the other and prints what failed. */
const runners: Readonly<Record<Track, { ending: string; file: string; text: string }>> = {
  terminal: {
    ending: 'sh',
    file: 'run.sh',
    text: `for FILE in *.sample.sh; do
  ( set -eo pipefail; . "./$FILE" ) > out.txt 2>&1 || echo "$FILE: $(cat out.txt)"
  if grep -q '"code":"' out.txt && grep -q '"request_id"' out.txt; then echo "$FILE: $(cat out.txt)"; fi
done`,
  },
  node: {
    ending: 'mjs',
    file: 'run.mjs',
    text: `import { readdirSync } from 'node:fs';
const write = process.stdout.write.bind(process.stdout);
const print = (...texts) => write(\`\${texts.join(' ')}\\n\`);
console.log = () => {};
process.stdout.write = () => true;
for (const file of readdirSync('.').filter((name) => name.endsWith('.sample.mjs')).sort()) {
  try {
    await import(\`./\${file}\`);
  } catch (error) {
    print(file, error);
  }
}`,
  },
  python: {
    ending: 'py',
    file: 'run.py',
    text: `import contextlib, glob, io, runpy, sys
for file in sorted(glob.glob("*.sample.py")):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(file)
    except Exception as error:
        print(file, repr(error))`,
  },
};

export async function runSamples(
  samples: ReadonlyMap<string, readonly CodeSample[]>,
  track: Track,
  world: World,
): Promise<string[]> {
  const folder = join(world.folder, 'reference', track);
  mkdirSync(folder, { recursive: true });
  const { ending, file, text } = runners[track];
  for (const [operation, all] of samples) {
    const source = all.find(({ label }) => label === LABELS[track])?.source ?? '';
    // A reset would take away what the others have made while they run.
    const order = operation === 'sandbox.reset' ? 'z' : 'a';
    writeFileSync(join(folder, `${order}-${operation}.sample.${ending}`), source);
  }
  writeFileSync(join(folder, file), text);
  const command = { terminal: 'bash', node: process.execPath, python: world.python }[track];
  const { stdout } = await run(command, [file], { cwd: folder, env: world.env, timeout: SAMPLES_MS_MAX });
  return stdout.split('\n').filter((line) => line !== '');
}
