/** Rails that lead outside. Callers may ask for one of these by name. */
export const OUTSIDE_RAIL_IDS = ['rtp', 'ach'] as const;

/** Every rail there is: types, schemas and tests derive from this list. `book` moves money between two balances here. */
export const RAIL_IDS = [...OUTSIDE_RAIL_IDS, 'book'] as const;

export type OutsideRailId = (typeof OUTSIDE_RAIL_IDS)[number];
export type RailId = (typeof RAIL_IDS)[number];
