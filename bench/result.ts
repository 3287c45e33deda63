/** One line of the report: what we do, what it is held against, and the bar that the ratio must reach. */
export interface Result {
  id: string;
  what: string;
  ours: number;
  other: number | null;
  unit: string;
  /** `at least` for throughput, `at most` for times and memory; null where the figure is only reported. */
  bar: { kind: 'at least' | 'at most'; value: number } | null;
}

export interface Benchmark {
  name: string;
  run(): Promise<Result[]>;
}

export function ratioOf({ ours, other }: Result): number {
  return other === null ? ours : ours / other;
}

export function reaches(result: Result): boolean | null {
  if (!result.bar) return null;
  const ratio = ratioOf(result);
  return result.bar.kind === 'at least' ? ratio >= result.bar.value : ratio <= result.bar.value;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export interface Turn {
  ours: number;
  other: number;
}

/** Of turns that follow each other closely, the one whose ratio is in the middle: the machine's own pace falls on both sides of it. */
export function middleTurn(turns: readonly Turn[]): Turn {
  const byRatio = turns.toSorted((a, b) => a.ours / a.other - b.ours / b.other);
  return byRatio[Math.floor(byRatio.length / 2)] ?? { ours: Number.NaN, other: Number.NaN };
}

const show = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2));

export function line(result: Result): string {
  const verdict = reaches(result);
  const bar = result.bar ? `${result.bar.kind} ${result.bar.value}` : 'reported';
  const mark = verdict === null ? ' ' : verdict ? '✓' : '✗';
  return [
    mark,
    result.id.padEnd(4),
    result.what.padEnd(52),
    `${show(result.ours)} ${result.unit}`.padStart(16),
    (result.other === null ? '' : `${show(result.other)} ${result.unit}`).padStart(16),
    show(ratioOf(result)).padStart(8),
    bar,
  ].join('  ');
}
