import { describe, expect, it } from 'vitest';
import { type Sample, whatGrew } from './flat.ts';
import { nextPause } from './soak.ts';

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

describe('the load of a soak', () => {
  it('comes at the rate that was wanted, however long its requests take', () => {
    // 64 connections that shall make 640 requests a second, of which each takes 30 ms.
    const rate = (pauseMs: number) => 64_000 / (pauseMs + 30);
    const pauseMs = nextPause(100, rate(100), 640);
    expect(rate(pauseMs)).toBeCloseTo(640);
    expect(nextPause(pauseMs, rate(pauseMs), 640)).toBeCloseTo(pauseMs);
  });

  it('rests not at all where requests take longer than the rate leaves them', () => {
    expect(nextPause(10, 64_000 / 210, 640)).toBe(0);
  });
});
