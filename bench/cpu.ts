import { readdirSync, readFileSync } from 'node:fs';

/** What the kernel counts in, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

interface ProcessTimes {
  parent: number;
  ticks: number;
}

/** Processor time of a process and of those of its children that have ended; undefined once it is gone. */
function timesOf(pid: string | number): ProcessTimes | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // It ended between the listing and the look.
  }
  // The name of the program is in brackets and may hold anything; the fields after it are numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return { parent: Number(fields[1]), ticks: user + system + endedUser + endedSystem };
}

/**
 * Seconds of processor time that these processes and all below them have used since they began. Unlike a rate it hardly
 * depends on what else the machine does.
 */
function cpuSeconds(roots: readonly number[]): number {
  const all = new Map<number, ProcessTimes>();
  for (const entry of readdirSync('/proc')) {
    const times = /^\d+$/.test(entry) ? timesOf(entry) : undefined;
    if (times) all.set(Number(entry), times);
  }
  const children = Map.groupBy(all.keys(), (pid) => all.get(pid)?.parent);
  const below = [...roots];
  let ticks = 0;
  for (let pid = below.pop(); pid !== undefined; pid = below.pop()) {
    ticks += all.get(pid)?.ticks ?? 0;
    below.push(...(children.get(pid) ?? []));
  }
  return ticks / TICKS_PER_SECOND;
}

/** What some work costs these processes, in seconds, with its result. */
export async function withCpu<T>(
  roots: readonly number[],
  work: () => Promise<T>,
): Promise<{ result: T; seconds: number }> {
  const before = cpuSeconds(roots);
  const result = await work();
  return { result, seconds: cpuSeconds(roots) - before };
}
