import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '@libs/db';
import type { ListedApproval } from './approval.ts';
import { type Abridged, type ArgumentsVault, abridge } from './arguments.ts';
import { findSealedArguments } from './store.ts';

/** What waiting calls would send, for whoever may see it; undefined where its key is lost. */
export interface ShownArguments {
  whole(key: { customerId: string; id: string }): Promise<Record<string, unknown> | undefined>;
  /** Of a list one after the other: so only one long one is in memory, and others get their turn in between. */
  abridged(approval: ListedApproval): Promise<Abridged | undefined>;
}

export function createShownArguments({
  database,
  vault,
}: {
  database: Database;
  vault: Pick<ArgumentsVault, 'open'>;
}): ShownArguments {
  async function whole(key: { customerId: string; id: string }) {
    const sealed = await findSealedArguments(database, key);
    return sealed && vault.open(key, sealed);
  }

  return {
    whole,
    async abridged(approval) {
      await nextTurn();
      const { sealedArguments } = approval;
      const args = sealedArguments === null ? await whole(approval) : vault.open(approval, sealedArguments);
      return args && abridge(args);
    },
  };
}
