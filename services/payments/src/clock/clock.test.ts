import { expect, test } from 'vitest';
import { clockNow, realClock, realTimeOf, type SandboxClock, toClock } from './clock.ts';

const realNow = new Date('2026-11-16T15:00:00.000Z');
const at = (time: string) => new Date(`2026-12-24T${time}:00.000Z`);

test('a clock that stands reaches a moment now or never, that at which it stands included', () => {
  const clock: SandboxClock = { state: 'frozen', at: at('12:00') };
  expect(clockNow(clock, realNow)).toEqual(at('12:00'));
  expect(realTimeOf(clock, at('11:59'), realNow)).toEqual(realNow);
  expect(realTimeOf(clock, at('12:00'), realNow)).toEqual(realNow);
  expect(realTimeOf(clock, at('12:01'), realNow)).toBeNull();
});

test('a clock that runs ahead reaches a moment as much earlier, and real time reaches it when it is', () => {
  const clock: SandboxClock = { state: 'running', offsetMs: at('12:00').getTime() - realNow.getTime() };
  expect(clockNow(clock, realNow)).toEqual(at('12:00'));
  expect(realTimeOf(clock, at('13:00'), realNow)).toEqual(new Date('2026-11-16T16:00:00.000Z'));
  expect(realTimeOf(realClock, at('13:00'), realNow)).toEqual(at('13:00'));
});

test('its stored form says where it stands, else how far it is ahead, of which nothing is something', () => {
  expect(toClock(at('12:00'), 5)).toEqual({ state: 'frozen', at: at('12:00') });
  expect(toClock(null, 0)).toEqual({ state: 'running', offsetMs: 0 });
  expect(toClock(null, null)).toEqual({ state: 'real' });
});
