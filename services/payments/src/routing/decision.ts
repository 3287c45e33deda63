import { isoTime } from '../clock/iso-time.ts';
import type { RailId } from '../rails/rail-ids.ts';
import type { RoutingTerms } from './terms.ts';

export type Preference = 'balanced' | 'speed' | 'cost';

/** Why a rail cannot carry a payment. */
export type Obstacle =
  | 'source_cannot_send'
  | 'destination_cannot_receive'
  | 'amount_over_limit'
  | 'only_between_balances'
  | 'not_between_balances'
  | 'not_configured'
  | 'down'
  | 'refused';

/** One way a rail could carry the payment: ACH has two, standard and same-day. */
export interface Option {
  fee: number;
  settlesAt: Date;
  sameDay: boolean;
}

/** What a rail says of a payment: why not, or at what price and when. */
export interface Assessment {
  rail: RailId;
  obstacles: readonly Obstacle[];
  options: readonly Option[];
}

export interface Candidate {
  rail: RailId;
  possible: boolean;
  reasons: readonly Obstacle[];
  fee: { amount: number; currency: string } | null;
  settles_at: string | null;
  /** Cents that this choice costs, the delay included; the lowest wins where the preference is `balanced`. */
  score: number | null;
}

export interface RailDecision {
  prefer: Preference;
  chosen: RailId;
  candidates: readonly Candidate[];
}

export interface Decided {
  decision: RailDecision;
  option: Option;
}

export type DecisionResult = ({ ok: true } & Decided) | { ok: false; candidates: readonly Candidate[] };

export interface DecisionRequest {
  amount: number;
  at: Date;
  prefer: Preference;
  /** A rail that the caller asked for; null leaves the choice to us. */
  only: RailId | null;
  assessments: readonly Assessment[];
  terms: RoutingTerms;
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1_000;
const SCORE_DECIMALS = 10_000;

/** Fee plus what the delay costs: the amount, times the yearly cost of money under way, times the wait. */
function scoreOf(option: Option, { amount, at, terms }: DecisionRequest): number {
  const waitMs = Math.max(0, option.settlesAt.getTime() - at.getTime());
  const delay = (amount * terms.delayCostPerYear * waitMs) / YEAR_MS;
  return Math.round((option.fee + delay) * SCORE_DECIMALS) / SCORE_DECIMALS;
}

interface Scored {
  option: Option;
  score: number;
}

/** Negative when `a` suits the preference better; ties fall to the cheaper, then to the earlier. */
function compare(a: Scored, b: Scored, prefer: Preference): number {
  const byFee = a.option.fee - b.option.fee;
  const byTime = a.option.settlesAt.getTime() - b.option.settlesAt.getTime();
  if (prefer === 'speed') return byTime || byFee;
  if (prefer === 'cost') return byFee || byTime;
  return a.score - b.score || byFee || byTime;
}

export function decideRail(request: DecisionRequest): DecisionResult {
  const { prefer, only } = request;
  const candidates: Candidate[] = [];
  let best: (Scored & { rail: RailId }) | undefined;
  for (const assessment of request.assessments) {
    const chosen = bestOption(assessment, request);
    candidates.push(toCandidate(assessment, chosen));
    if (!chosen || (only !== null && assessment.rail !== only)) continue;
    if (!best || compare(chosen, best, prefer) < 0) best = { ...chosen, rail: assessment.rail };
  }
  if (!best) return { ok: false, candidates };
  return { ok: true, decision: { prefer, chosen: best.rail, candidates }, option: best.option };
}

function bestOption(assessment: Assessment, request: DecisionRequest): Scored | undefined {
  if (assessment.obstacles.length > 0) return undefined;
  const scored = assessment.options.map((option) => ({ option, score: scoreOf(option, request) }));
  return scored.sort((a, b) => compare(a, b, request.prefer))[0];
}

function toCandidate(assessment: Assessment, chosen: Scored | undefined): Candidate {
  return {
    rail: assessment.rail,
    possible: chosen !== undefined,
    reasons: assessment.obstacles,
    fee: chosen ? { amount: chosen.option.fee, currency: 'USD' } : null,
    settles_at: chosen ? isoTime(chosen.option.settlesAt) : null,
    score: chosen ? chosen.score : null,
  };
}
