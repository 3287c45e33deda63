import type { WireStep } from './database-wire.ts';

/** At which steps workers are killed: at every one that is ever seen and changes something, as often as is wanted. */
export interface KillPlan {
  /** Whether the one who stands at this step gets no further. */
  isHeldAt(step: WireStep): boolean;
  /** Tells that those who were held are dead. */
  died(): void;
  /** How many are held now. */
  readonly held: number;
  /** Whether every step had its kills that was seen more often than now and then. */
  isDone(): boolean;
  /** No further kills. */
  end(): void;
  readonly kills: number;
  /** In one line. */
  describe(): string;
  /** Each step with its kills. */
  list(): string[];
}

export interface KillPlanOptions {
  perStep: number;
  /** In all. */
  all: number;
  /** Of being held where somebody is wanted, so that other occurrences of a step have their turn, too. */
  chance: number;
  /** How many are held at once before they die together. */
  heldMax: number;
}

/** Between two writes nothing changes, so whoever dies there dies as after the first. */
const CHANGES = /^(insert|update|delete|with|commit|rollback)\b/i;
/** A lease that is held on to while the work goes on, and what processes tell each other of rates. */
const BESIDE_THE_WORK = /^update jobs set ready_at|rate_limit_/i;
const LOOKS_FOR_WORK = /^update jobs set attempts/i;
/** What comes up more seldom depends on chance: a run that waited for it would have no end. */
const OFTEN = 40;
/** So that one process dies at many steps, and not at one alone. */
const HELD_AT_ONE_STEP_MAX = 3;

/** Whether somebody comes a step further by it; looking for work is no such step. */
export function isProgress({ name }: WireStep): boolean {
  return CHANGES.test(name) && !BESIDE_THE_WORK.test(name) && !LOOKS_FOR_WORK.test(name);
}

/** Before a process looks for work for the first time, it is starting. */
export function isLookingForWork({ name }: WireStep): boolean {
  return LOOKS_FOR_WORK.test(name);
}

export function createKillPlan(options: KillPlanOptions, random: () => number): KillPlan {
  const { perStep, all, chance, heldMax } = options;
  const killsByStep = new Map<string, number>();
  const heldByStep = new Map<string, number>();
  const seen = new Map<string, number>();
  let [kills, held] = [0, 0];
  let isEnded = false;
  return {
    isHeldAt({ name, when }) {
      if (!CHANGES.test(name) || BESIDE_THE_WORK.test(name) || isEnded) return false;
      const step = `${when} ${name}`;
      const before = killsByStep.get(step) ?? 0;
      seen.set(step, (seen.get(step) ?? 0) + 1);
      killsByStep.set(step, before);
      if (before >= perStep || kills >= all || held >= heldMax) return false;
      const heldHere = heldByStep.get(step) ?? 0;
      if (heldHere >= HELD_AT_ONE_STEP_MAX || random() >= chance) return false;
      killsByStep.set(step, before + 1);
      heldByStep.set(step, heldHere + 1);
      kills += 1;
      held += 1;
      return true;
    },
    died() {
      held = 0;
      heldByStep.clear();
    },
    get held() {
      return held;
    },
    isDone: () =>
      [...killsByStep].every(([step, count]) => count >= perStep || (seen.get(step) ?? 0) < OFTEN),
    end() {
      isEnded = true;
    },
    get kills() {
      return kills;
    },
    describe() {
      const whole = [...killsByStep.values()].filter((count) => count >= perStep).length;
      return `${kills} kills: at ${whole} of ${killsByStep.size} steps ${perStep} or more`;
    },
    list: () => [...killsByStep].map(([step, count]) => `${String(count).padStart(4)} ${step}`).sort(),
  };
}
