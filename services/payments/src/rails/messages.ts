import type { Database } from '@libs/db';
import type { RailId } from '../routing/decision.ts';
import type { Tenant } from '../tenant.ts';
import { achMessagesOf } from './ach/messages.ts';
import { createMessageVault, type MessageSealer } from './message-vault.ts';
import { findMessages } from './messages-store.ts';

export const MESSAGE_KINDS = ['nacha', 'return', 'noc', 'pacs.008', 'pacs.002', 'pacs.028'] as const;

/** Something that went over a rail for a payment, as the payment's owner may see it. */
export interface RailMessage {
  id: string;
  rail: RailId;
  direction: 'out' | 'in';
  kind: (typeof MESSAGE_KINDS)[number];
  content: string;
  createdAt: Date;
}

export interface RailMessages {
  /** Newest first. */
  list(tenant: Tenant, paymentId: string): Promise<RailMessage[]>;
}

export function createRailMessages(deps: { database: Database; sealer: MessageSealer }): RailMessages {
  const vault = createMessageVault(deps.sealer);
  return {
    async list(tenant, paymentId) {
      const key = { tenantId: tenant.id, id: paymentId };
      const [messages, files] = await Promise.all([
        findMessages(deps.database, key),
        achMessagesOf(deps.database, deps.sealer, key),
      ]);
      const opened = messages.map(({ content, contentSealed, ...message }) => ({
        ...message,
        content: vault.open({ tenantId: tenant.id, id: message.id }, { content, contentSealed }),
      }));
      return [...opened, ...files].sort(newestFirst);
    },
  };
}

/** Ids are of real time, which tells apart what happened at one moment of a clock that stands still. */
function newestFirst(a: RailMessage, b: RailMessage): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1);
}
