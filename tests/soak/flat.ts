/** What is looked at after each stretch of a soak. */
export interface Sample {
  /** Of the load in this stretch. */
  perSecond: number;
  p99Ms: number;
  residentMb: number;
  /** To the database. */
  connections: number;
  /** Payments that are under way, jobs that are due, and deliveries. */
  waiting: number;
  /** Stored so far. */
  payments: number;
  /** Of the tables that keep what happened, and of those whose rows come and go. */
  keptBytes: number;
  passingBytes: number;
}

/** How much more the last third may have than the second, of what does not grow with what is stored. */
const MORE_MAX = { residentMb: 1.15, p99Ms: 1.5, connections: 1.1, waiting: 1.5, passingBytes: 1.5 } as const;
/** Below these, what differs is noise. */
const NOISE = {
  residentMb: 24,
  p99Ms: 10,
  connections: 4,
  waiting: 500,
  passingBytes: 16 * 1_024 * 1_024,
} as const;
/** A page of a table or an index begins now and then, so that bytes per payment are never exactly the same. */
const BYTES_PER_PAYMENT_MORE_MAX = 1.15;

type Flat = keyof typeof MORE_MAX;

export const SAMPLES_MIN = 6;

/** What was not flat, in words. The first third is for warming up. */
export function whatGrew(samples: readonly Sample[]): string[] {
  if (samples.length < SAMPLES_MIN) throw new RangeError(`${samples.length} samples tell nothing`);
  const third = Math.floor(samples.length / 3);
  const [before, after] = [samples.slice(third, -third), samples.slice(-third)];
  const grew = (Object.keys(MORE_MAX) as Flat[]).flatMap((name) => {
    const [first, last] = [median(before.map((one) => one[name])), median(after.map((one) => one[name]))];
    return last > first * MORE_MAX[name] + NOISE[name] ? [`${name} grew from ${first} to ${last}`] : [];
  });
  const perPayment = (some: readonly Sample[]) => {
    const [first, last] = [some[0] as Sample, some.at(-1) as Sample];
    return (last.keptBytes - first.keptBytes) / Math.max(1, last.payments - first.payments);
  };
  const [first, last] = [perPayment(before), perPayment(after)].map(Math.round) as [number, number];
  if (last > first * BYTES_PER_PAYMENT_MORE_MAX) grew.push(`bytes per payment grew from ${first} to ${last}`);
  return grew;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
