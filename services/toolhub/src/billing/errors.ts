import type { ErrorDefinitions } from '@libs/http';

export const billingErrorDefinitions = {
  unknown_plan: {
    kind: 'refused',
    title: 'Unknown plan',
    detail: 'There is no plan of this name; GET /api/plans lists them.',
  },
  overloaded: {
    kind: 'unavailable',
    title: 'Overloaded',
    detail: 'Too many calls wait for the database; try again.',
  },
} as const satisfies ErrorDefinitions;
