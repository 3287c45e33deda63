const STEPS = [1, 2, 2.5, 5, 10];
const PARTS = 4;

/** Whole numbers at even distances from 0 to at least the largest value. */
export function evenTicks(largest: number): number[] {
  const rough = Math.max(largest, PARTS) / PARTS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.ceil(power * (STEPS.find((each) => each * power >= rough) ?? 10));
  const parts = Math.max(1, Math.ceil(largest / step));
  return Array.from({ length: parts + 1 }, (_, index) => index * step);
}
