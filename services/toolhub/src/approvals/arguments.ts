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

export interface Abridged {
  value: unknown;
  isCut: boolean;
}

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
const CHARACTERS_SHOWN_MAX = 64 * 1024;
/** What a value costs beside its text. */
const VALUE_CHARACTERS = 8;

/** For lists: long texts, such as attachments, are cut, and say how long they are; of very many values the first are left. */
export function abridge(value: unknown): Abridged {
  let isCut = false;
  let left = CHARACTERS_SHOWN_MAX;
  const cut = (text: string): string => {
    if (text.length <= TEXT_SHOWN_MAX) return text;
    isCut = true;
    return `${text.slice(0, TEXT_SHOWN_MAX).toWellFormed()}… (${text.length} characters)`;
  };
  const firstOf = <Item>(items: readonly Item[], show: (item: Item) => unknown): unknown[] => {
    const shown: unknown[] = [];
    for (const item of items) {
      if (left <= 0) {
        isCut = true;
        break;
      }
      shown.push(show(item));
    }
    return shown;
  };
  const shorten = (item: unknown): unknown => {
    left -= VALUE_CHARACTERS;
    if (typeof item === 'string') {
      left -= Math.min(item.length, TEXT_SHOWN_MAX);
      return cut(item);
    }
    if (Array.isArray(item)) return firstOf(item, shorten);
    if (typeof item !== 'object' || item === null) return item;
    const members = firstOf(Object.entries(item), ([name, member]) => {
      left -= name.length;
      return [name, shorten(member)];
    });
    return Object.fromEntries(members as [string, unknown][]);
  };
  return { value: shorten(value), isCut };
}
