import type { Queryable } from '@libs/db';

/**
 * For the beginning of a transaction that stores something: throws where whoever began the call has been shut out since.
 * A call may wait long for a platform, or for a name, and what it brings must not come after the end of its own access.
 */
export type Standing = (tx: Queryable) => Promise<void>;
