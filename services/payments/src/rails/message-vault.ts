import assert from 'node:assert/strict';
import { sealedColumn } from '@libs/rotation';
import type { Sealer } from '@libs/seal';
import { LRUCache } from 'lru-cache';
import { parseTenantId } from '../tenant.ts';
import { packText, unpackText } from './packed-text.ts';

/** A message as it lies in the database: in the clear, or as an envelope, in which it is packed unless it is old. */
export interface KeptContent {
  content: string | null;
  contentSealed: Buffer | null;
  packedSealed: Buffer | null;
}

export interface MessageKey {
  tenantId: string;
  id: string;
}

export interface MessageVault {
  /** Packs and seals. */
  seal(key: MessageKey, text: string): Buffer;
  /** Seals what may hold account numbers. */
  keep(key: MessageKey & { kind: string }, text: string): KeptContent;
  open(key: MessageKey, kept: KeptContent): string;
  /** Keeps a text at hand that will be wanted shortly. */
  remember(id: string, text: string): void;
  /** The text, where this process has it at hand still. */
  recall(id: string): string | undefined;
}

/** What is submitted is sent within moments; a process that falls further behind reads the database again. */
const REMEMBERED_MAX = 4_000;

/** Bound to its owner: an envelope that is moved to another message or tenant does not open. */
function contextOf({ tenantId, id }: MessageKey): string {
  return `rail_message ${tenantId} ${id}`;
}

export const sealedMessages = ['content_sealed', 'packed_sealed'].map((column) =>
  sealedColumn({
    table: 'rail_messages',
    column,
    key: { tenant_id: 'text', payment_id: 'text', id: 'text' },
    contextOf: (row) => contextOf({ tenantId: row.tenant_id, id: row.id }),
  }),
);

/**
 * A transfer names two accounts. Status reports and requests name none under the network's schemas, so those of the
 * sandbox, which we write ourselves, stay as they are; what a live network writes is sealed whatever it is.
 */
function mayHoldAccounts({ tenantId, kind }: { tenantId: string; kind: string }): boolean {
  return kind === 'pacs.008' || parseTenantId(tenantId).mode === 'live';
}

export type MessageSealer = Pick<Sealer, 'seal' | 'open' | 'openText'>;

export function createMessageVault(sealer: MessageSealer): MessageVault {
  const remembered = new LRUCache<string, string>({ max: REMEMBERED_MAX });

  const seal = (key: MessageKey, text: string) => sealer.seal(packText(text), contextOf(key));

  return {
    seal,

    keep(key, text) {
      return mayHoldAccounts(key)
        ? { content: null, contentSealed: null, packedSealed: seal(key, text) }
        : { content: text, contentSealed: null, packedSealed: null };
    },

    open(key, { content, contentSealed, packedSealed }) {
      if (packedSealed) return unpackText(sealer.open(packedSealed, contextOf(key)));
      if (contentSealed) return sealer.openText(contentSealed, contextOf(key));
      assert(content !== null, 'a message is kept in one way or the other');
      return content;
    },

    remember(id, text) {
      remembered.set(id, text);
    },

    recall(id) {
      const text = remembered.get(id);
      remembered.delete(id);
      return text;
    },
  };
}
