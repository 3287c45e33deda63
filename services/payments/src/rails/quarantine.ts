import assert from 'node:assert/strict';
import type { Database } from '@libs/db';
import { errors } from '../errors.ts';
import { fileSealContext } from './ach/context.ts';
import { createMessageVault, type KeptContent, type MessageSealer } from './message-vault.ts';
import { findQuarantined, listQuarantined } from './quarantine-store.ts';

export const QUARANTINED_RAILS = ['ach', 'rtp'] as const;

/** A file or message from a network of which nothing was applied. */
export interface Quarantined {
  id: string;
  rail: (typeof QUARANTINED_RAILS)[number];
  reason: string;
  receivedAt: Date;
}

export interface QuarantineFilter {
  rail: Quarantined['rail'] | null;
  before: { receivedAt: Date; id: string } | null;
  limit: number;
}

/** What a person has to look at; the operator alone sees it, because it may be anyone's. */
export interface Quarantine {
  list(filter: QuarantineFilter): Promise<Quarantined[]>;
  get(id: string): Promise<Quarantined & { content: string }>;
}

export function createQuarantine(deps: { database: Database; sealer: MessageSealer }): Quarantine {
  const vault = createMessageVault(deps.sealer);

  function open({ id, rail, content, contentSealed }: Quarantined & KeptContent): string {
    if (contentSealed) return vault.openAside(id, contentSealed);
    assert(content !== null, 'what is put aside is kept in one way or the other');
    // Before there was a column for envelopes, files were put aside as text of one, and messages as they came.
    return rail === 'ach'
      ? deps.sealer.openText(Buffer.from(content, 'base64'), fileSealContext(id))
      : content;
  }

  return {
    list: (filter) => listQuarantined(deps.database, filter),

    async get(id) {
      const found = await findQuarantined(deps.database, id);
      if (!found) throw errors.not_found({ detail: 'Nothing was put aside under this id.' });
      const { content: _text, contentSealed: _envelope, ...rest } = found;
      return { ...rest, content: open(found) };
    },
  };
}
