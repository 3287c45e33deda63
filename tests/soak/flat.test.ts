import { describe, expect, it } from 'vitest';
import { type Sample, whatGrew } from './flat.ts';

/** Stretches of a soak in which nothing grows but what is stored. */
function soak(change: (number: number) => Partial<Sample> = () => ({})): Sample[] {
  return Array.from({ length: 12 }, (_, number) => ({
    ...{ perSecond: 1_000, p99Ms: 20 + (number % 3), residentMb: 300 + (number % 2) * 10, connections: 20 },
    ...{
      waiting: 40,
      payments: number * 60_000,
      keptBytes: number * 60_000 * 2_500,
      passingBytes: 50_000_000,
    },
    ...change(number),
  }));
}

describe('a soak', () => {
  it('is flat where nothing but the stored payments grows', () => {
    expect(whatGrew(soak())).toEqual([]);
  });

  it.each<[string, (number: number) => Partial<Sample>]>([
    ['residentMb', (number) => ({ residentMb: 300 + number * 30 })],
    ['p99Ms', (number) => ({ p99Ms: 20 + 2 * number ** 2 })],
    ['connections', (number) => ({ connections: 20 + number * 2 })],
    ['waiting', (number) => ({ waiting: number * 1_000 })],
    ['passingBytes', (number) => ({ passingBytes: 50_000_000 * (1 + number) })],
    ['bytes per payment', (number) => ({ keptBytes: number ** 2 * 60_000 * 500 })],
  ])('is not where %s grows, and says so', (name, change) => {
    expect(whatGrew(soak(change))).toEqual([expect.stringContaining(`${name} grew`)]);
  });

  it('forgives what happens while everything warms up', () => {
    expect(whatGrew(soak((number) => (number < 4 ? { residentMb: 100, p99Ms: 300 } : {})))).toEqual([]);
  });
});
