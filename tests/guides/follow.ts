// Follows a guide from its first block to its last as its reader would: once in a terminal, once in Node, once in Python.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Block, type Guide, groupBlocks } from '@libs/docs';
import { difference } from './compare.ts';

export const tracks = ['terminal', 'node', 'python'] as const;
export type Track = (typeof tracks)[number];

const LANGUAGES: Readonly<Record<Track, string>> = { terminal: 'sh', node: 'js', python: 'python' };
const GUIDE_MS_MAX = 60_000;
const OUTPUT_BYTES_MAX = 1_000_000;
/** Stands between the outputs of two blocks; no block prints it. */
const MARK = '\u0001';

export interface World {
  /** The reader's empty folder; each guide gets one in it. */
  folder: string;
  repository: string;
  env: Record<string, string>;
  python: string;
  /** What a reader gets from elsewhere: the SDKs from their registries, ports that are free. */
  adapt(text: string): string;
}

interface Step {
  block: Block;
  outputs: Block[];
}

/** The blocks of a track, each with what it prints; an output for all tabs belongs to those that have none of their own. */
export function stepsOf(guide: Guide, track: Track): Step[] {
  return groupsOf(guide).flatMap((blocks) => {
    const shared = blocks.filter(({ use, ofAll }) => use === 'output' && ofAll);
    const steps: Step[] = [];
    for (const block of blocks) {
      if (block.use === 'run') steps.push({ block, outputs: [] });
      else if (block.use === 'output' && !block.ofAll) steps.at(-1)?.outputs.push(block);
    }
    return steps
      .filter(({ block }) => block.language === LANGUAGES[track])
      .map(({ block, outputs }) => ({ block, outputs: outputs.length > 0 ? outputs : shared }));
  });
}

export function groupsOf(guide: Guide): Block[][] {
  return groupBlocks(guide.tokens).flatMap((token) => ('blocks' in token ? [token.blocks as Block[]] : []));
}

/** Everything that went otherwise than the guide says. */
export async function follow(guide: Guide, track: Track, world: World): Promise<string[]> {
  const steps = stepsOf(guide, track);
  if (steps.length === 0) return [];
  const folder = join(world.folder, guide.name, track);
  mkdirSync(folder, { recursive: true });
  for (const block of groupsOf(guide).flat()) {
    if (block.use === 'file') writeFileSync(join(folder, block.file as string), world.adapt(block.text));
  }
  const texts = steps.map(({ block }) => ({ ...block, text: world.adapt(block.text) }));
  const { printed, code, errors } = await programs[track](texts, folder, world);
  const place = (at: number) =>
    `${guide.name}, ${track}, block ${at + 1} (${steps[at]?.block.text.split('\n')[0]})`;
  const ended = printed.length - 1;
  if (code !== 0 || ended < steps.length - 1)
    return [`${place(Math.max(0, ended))} ended with ${code}:\n${printed.at(-1) ?? ''}\n${errors}`];
  return steps.flatMap(({ outputs }, at) =>
    outputs.flatMap((shown) => {
      const adapted = { ...shown, text: world.adapt(shown.text) };
      const fault = difference(adapted, printed[at] ?? '');
      return fault === undefined ? [] : [`${place(at)}:\n${fault}`];
    }),
  );
}

interface Ended {
  /** What each block printed, in order, as far as it came. */
  printed: string[];
  code: number | null;
  errors: string;
}

type Program = (blocks: readonly Block[], folder: string, world: World) => Promise<Ended>;

const programs: Readonly<Record<Track, Program>> = {
  /** One shell for the whole guide, so that what one block sets is there in the next. */
  async terminal(blocks, folder, world) {
    const lines = blocks.map(({ text, inRepository }, at) => {
      const within = inRepository ? `cd ${JSON.stringify(world.repository)}\n` : '';
      const back = inRepository ? `\ncd ${JSON.stringify(folder)}` : '';
      return `{\n${within}${text}${back}\n} > ${JSON.stringify(join(folder, `.out-${at}`))} 2>&1`;
    });
    writeFileSync(join(folder, '.session.sh'), `set -eo pipefail\n${lines.join('\n')}\n`);
    const { code, errors } = await run('bash', ['.session.sh'], folder, world);
    const printed = blocks.map((_block, at) => join(folder, `.out-${at}`)).filter((path) => existsSync(path));
    return { code, errors, printed: printed.map((path) => readFileSync(path, 'utf8')) };
  },
  async node(blocks, folder, world) {
    const between = `\nconsole.log(${JSON.stringify(MARK)});\n`;
    writeFileSync(join(folder, 'guide.mjs'), blocks.map(({ text }) => text).join(between));
    return marked(await run(process.execPath, ['guide.mjs'], folder, world));
  },
  async python(blocks, folder, world) {
    const between = `\nprint(${JSON.stringify(MARK)})\n`;
    writeFileSync(join(folder, 'guide.py'), blocks.map(({ text }) => text).join(between));
    return marked(await run(world.python, ['guide.py'], folder, world));
  },
};

function marked({ output, ...ended }: { output: string; code: number | null; errors: string }): Ended {
  return { ...ended, printed: output.split(`${MARK}\n`) };
}

/** A program in a process group of its own: what it left running in the background ends with it. */
async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  { env }: World,
): Promise<{ output: string; errors: string; code: number | null }> {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output = (output + chunk).slice(0, OUTPUT_BYTES_MAX);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk).slice(0, OUTPUT_BYTES_MAX);
  });
  const endGroup = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch (error) {
      // Everything in it has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const timer = setTimeout(endGroup, GUIDE_MS_MAX);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (status) => resolve(status));
  });
  clearTimeout(timer);
  endGroup();
  await new Promise((resolve) => setImmediate(resolve));
  return { output, errors, code };
}
