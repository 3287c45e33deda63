import type { Queryable } from '@libs/db';
import type { ArrivedMessage, ArrivedQuery } from './arrived.ts';
import { listAppMessages } from './store.ts';

/** Newest first; for the tools of the platforms. */
export function listReceived(db: Queryable, query: ArrivedQuery): Promise<ArrivedMessage[]> {
  return listAppMessages(db, query);
}
