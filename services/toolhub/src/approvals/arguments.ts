import { sealedColumn } from '@libs/rotation';
import { ifReadable, type Sealer } from '@libs/seal';

interface ApprovalKey {
  customerId: string;
  id: string;
}

function contextOf({ customerId, id }: ApprovalKey): string {
  return JSON.stringify(['approval', customerId, id]);
}

export const sealedApprovals = sealedColumn({
  table: 'approvals',
  column: 'sealed_arguments',
  key: { customer_id: 'text', id: 'text' },
  contextOf: (row) => contextOf({ customerId: row.customer_id, id: row.id }),
});

/** What a waiting call would send is as private as a message: it opens for its own customer alone. */
export interface ArgumentsVault {
  seal(key: ApprovalKey, args: Record<string, unknown>): Buffer;
  /** Undefined where its key is lost: the call is still known, without what it would send. */
  open(key: ApprovalKey, sealed: Buffer): Record<string, unknown> | undefined;
}

export function createArgumentsVault(sealer: Sealer): ArgumentsVault {
  return {
    seal: (key, args) => sealer.seal(JSON.stringify(args), contextOf(key)),
    open: (key, sealed) =>
      ifReadable(() => JSON.parse(sealer.openText(sealed, contextOf(key))) as Record<string, unknown>),
  };
}

const TEXT_SHOWN_MAX = 2_000;

/** For lists: long texts, such as attachments, are cut, and say how long they are. */
export function abridge(value: unknown): { value: unknown; isCut: boolean } {
  let isCut = false;
  const shorten = (item: unknown): unknown => {
    if (typeof item === 'string') {
      if (item.length <= TEXT_SHOWN_MAX) return item;
      isCut = true;
      return `${item.slice(0, TEXT_SHOWN_MAX).toWellFormed()}… (${item.length} characters)`;
    }
    if (Array.isArray(item)) return item.map(shorten);
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([name, member]) => [name, shorten(member)]));
  };
  return { value: shorten(value), isCut };
}
