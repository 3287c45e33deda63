import type { RailIsUp } from '../rails/health.ts';
import type { Carrier, RailRequest } from '../rails/rail.ts';
import type { RailId } from '../rails/rail-ids.ts';
import { type Assessment, type DecisionResult, decideRail, type Preference } from './decision.ts';
import type { RoutingTerms } from './terms.ts';

export interface Routing {
  decide(request: RailRequest & { prefer: Preference; only: RailId | null }): DecisionResult;
  /** The choice that is left when rails have refused a payment for reasons that may not hold on others. */
  decideAfterRefusal(
    request: RailRequest & { prefer: Preference; refusedBy: ReadonlySet<RailId> },
  ): DecisionResult;
}

export interface RoutingDependencies {
  rails: readonly Pick<Carrier, 'id' | 'possible'>[];
  terms: RoutingTerms;
  isUp: RailIsUp;
}

export function createRouting(deps: RoutingDependencies): Routing {
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
          refusedBy.has(assessment.rail)
            ? { ...assessment, obstacles: [...assessment.obstacles, 'refused'] }
            : assessment,
      );
      return decideRail({ amount, at, prefer, only: null, assessments, terms: deps.terms });
    },
  };
}
