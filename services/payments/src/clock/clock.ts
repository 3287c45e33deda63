/**
 * An organisation's sandbox clock. Without one, its time is real time; frozen, it stands still; running, it goes on
 * from where it stood, ahead of real time by a fixed offset.
 */
export type SandboxClock =
  | { state: 'real' }
  | { state: 'frozen'; at: Date }
  | { state: 'running'; offsetMs: number };

/** From its stored form: where it stands, or how far it runs ahead of real time. */
export function toClock(frozenAt: Date | null, offsetMs: number | null): SandboxClock {
  if (frozenAt) return { state: 'frozen', at: frozenAt };
  return offsetMs === null ? realClock : { state: 'running', offsetMs };
}

export const realClock: SandboxClock = { state: 'real' };

export function clockNow(clock: SandboxClock, realNow: Date): Date {
  if (clock.state === 'frozen') return clock.at;
  if (clock.state === 'running') return new Date(realNow.getTime() + clock.offsetMs);
  return realNow;
}

/** The real moment at which the clock shows `at`; null while it stands still before it. */
export function realTimeOf(clock: SandboxClock, at: Date, realNow: Date): Date | null {
  if (clock.state === 'frozen') return at <= clock.at ? realNow : null;
  if (clock.state === 'running') return new Date(at.getTime() - clock.offsetMs);
  return at;
}
