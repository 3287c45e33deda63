import type { Database } from '@libs/db';
import { nextTurn } from '@libs/runtime';
import type { ListedApproval } from './approval.ts';
import type { Abridged, ArgumentsVault, ShownForms } from './arguments.ts';
import { findSealedArguments } from './store.ts';

export interface ShownValue extends Abridged {
  hasData: boolean;
}

/** What waiting calls would send, for whoever may see it; undefined where its key is lost. */
export interface ShownArguments {
  whole(key: { customerId: string; id: string }): Promise<ShownValue | undefined>;
  /** Of a list one after the other: so only one long one is in memory, and others get their turn in between. */
  abridged(approval: ListedApproval): Promise<ShownValue | undefined>;
}

export function createShownArguments({
  database,
  vault,
}: {
  database: Database;
  vault: Pick<ArgumentsVault, 'open'>;
}): ShownArguments {
  async function formsOf(key: { customerId: string; id: string }): Promise<ShownForms | undefined> {
    const sealed = await findSealedArguments(database, key);
    return sealed && vault.open(key, sealed);
  }

  return {
    async whole(key) {
      const forms = await formsOf(key);
      // To write the answer takes as long as to open what it is made of.
      await nextTurn();
      return forms && { ...forms.whole, hasData: forms.hasData };
    },
    async abridged(approval) {
      await nextTurn();
      const { sealedArguments } = approval;
      const forms =
        sealedArguments === null ? await formsOf(approval) : vault.open(approval, sealedArguments);
      return forms && { ...forms.listed, hasData: forms.hasData };
    },
  };
}
