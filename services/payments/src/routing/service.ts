import type { Rail, RailRequest } from '../rails/rail.ts';
import {
  type Assessment,
  type DecisionResult,
  decideRail,
  type Preference,
  type RailId,
} from './decision.ts';
import type { RailTerms } from './terms.ts';

export interface Routing {
  decide(request: RailRequest & { prefer: Preference; only: RailId | null }): DecisionResult;
  /** The choice that is left when a rail has refused a payment for a reason that may not hold on ACH. */
  decideAfterRefusal(request: RailRequest & { prefer: Preference; refusedBy: RailId }): DecisionResult;
}

/** Whether a rail is up right now, by mode; kept fresh elsewhere, read here without a query. */
export type RailIsUp = (rail: RailId, mode: RailRequest['mode']) => boolean;

export function createRouting(deps: { rails: readonly Rail[]; terms: RailTerms; isUp: RailIsUp }): Routing {
  function assess(request: RailRequest): Assessment[] {
    return deps.rails.map((rail) => {
      const assessment = rail.possible(request);
      if (deps.isUp(rail.id, request.mode)) return assessment;
      return { ...assessment, obstacles: [...assessment.obstacles, 'down'] };
    });
  }
  return {
    decide(request) {
      const { amount, at, prefer, only } = request;
      return decideRail({ amount, at, prefer, only, assessments: assess(request), terms: deps.terms });
    },
    decideAfterRefusal(request) {
      const { amount, at, prefer, refusedBy } = request;
      const assessments = assess(request).map(
        (assessment): Assessment =>
          assessment.rail === refusedBy
            ? { ...assessment, obstacles: [...assessment.obstacles, 'refused'] }
            : assessment,
      );
      return decideRail({ amount, at, prefer, only: 'ach', assessments, terms: deps.terms });
    },
  };
}
