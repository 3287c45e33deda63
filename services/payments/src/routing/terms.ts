/** What a year's wait for one cent costs, in cents: the yield of money that is not under way. */
export interface RoutingTerms {
  delayCostPerYear: number;
}

export const ROUTING_TERMS: RoutingTerms = { delayCostPerYear: 0.1 };
