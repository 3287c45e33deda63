import { sealedColumn } from '@libs/rotation';
import { nextTurn } from '@libs/runtime';
import { ifReadable, type Sealer } from '@libs/seal';
import type { JsonSchema } from '../tools/tool.ts';

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
  /** Whether something is missing that its place does not tell of, or that there is more of to see. */
  isCut: boolean;
}

/** What is shown of a waiting call's arguments. */
export interface ShownForms {
  /** By its id: all of it, but of data the beginning and how long it is. */
  whole: Abridged;
  /** In lists. */
  listed: Abridged;
  /** Whether there is such data. */
  hasData: boolean;
}

/** What a waiting call would send is as private as a message: it opens for its own customer alone. */
export interface ArgumentsVault {
  /** The schema is the tool's, which says what of its arguments is data. */
  seal(key: ApprovalKey, args: Record<string, unknown>, schema: JsonSchema): Promise<Buffer>;
  /** Undefined where its key is lost: the call is still known, without what it would send. */
  open(key: ApprovalKey, sealed: Buffer): ShownForms | undefined;
}

/**
 * The call comes again with its arguments, so of megabytes only what is shown is kept: to seal, open and answer with all of
 * them would hold up everybody else. A list holds the forms of long ones; an object is the arguments themselves.
 */
export function createArgumentsVault(sealer: Sealer): ArgumentsVault {
  return {
    async seal(key, args, schema) {
      const listed = abridge(args);
      if (!listed.isCut) return sealer.seal(JSON.stringify(args), contextOf(key));
      const forms: ShownForms = { ...cutData(args, await findData(args, schema)), listed };
      await nextTurn();
      return sealer.seal(JSON.stringify([forms]), contextOf(key));
    },
    open: (key, sealed) =>
      ifReadable(() => {
        const kept = JSON.parse(sealer.openText(sealed, contextOf(key))) as
          | [ShownForms]
          | Record<string, unknown>;
        return Array.isArray(kept) ? (kept[0] as ShownForms) : { ...cutData(kept), listed: abridge(kept) };
      }),
  };
}

function beginningOf(text: string, characters: number): string {
  return `${text.slice(0, characters).toWellFormed()}… (${text.length} characters)`;
}

/**
 * Data is what the schema of a tool calls so, and what is base64: nobody reads an attachment, so its beginning and how long
 * it is tell as much. A text may look the same, with other characters between its words, and is read by whoever gets it.
 */
const DATA_ENCODING = 'base64';
const NOT_OF_DATA = /[^A-Za-z0-9+/=]/;
const DATA_SHOWN_WHOLE = 16 * 1024;
const DATA_SHOWN = 2_000;
/** Two bodies of the longest mail. */
const TEXTS_SHOWN_MAX = 2_100_000;
const LATE_TEXT_SHOWN = 64;
const NAMES_SHOWN_MAX = 128 * 1024;
/** How much is looked at in one turn: a few milliseconds. */
const LOOKED_AT_AT_ONCE = 1024 * 1024;

/** The names of texts, by the object or list that has them. */
type Places = ReadonlyMap<object, ReadonlySet<string>>;

interface PlacedText {
  holder: object;
  name: string;
  text: string;
}

/**
 * Where the long data is, looked at in slices, since it may be megabytes. It is known by its place: to look a text up by what
 * it says compares it with all that are as long, since of very long texts only the length is hashed.
 */
async function findData(args: Record<string, unknown>, schema: JsonSchema): Promise<Places> {
  const places = new Map<object, Set<string>>();
  for (const { holder, name, text } of longDataOf(args, schema)) {
    let isData = true;
    for (let at = 0; isData && at < text.length; at += LOOKED_AT_AT_ONCE) {
      await nextTurn();
      isData = !NOT_OF_DATA.test(text.slice(at, at + LOOKED_AT_AT_ONCE));
    }
    if (isData) places.set(holder, (places.get(holder) ?? new Set()).add(name));
  }
  return places;
}

function longDataOf(holder: object, schema: JsonSchema): PlacedText[] {
  return Object.entries(holder).flatMap(([name, member]) => {
    const said = schemaAt(schema, name, holder);
    if (typeof member === 'string')
      return member.length > DATA_SHOWN_WHOLE && said.contentEncoding === DATA_ENCODING
        ? [{ holder, name, text: member }]
        : [];
    return typeof member === 'object' && member !== null ? longDataOf(member, said) : [];
  });
}

/** What a schema says of a member; nothing where it does not know it. */
function schemaAt({ items, properties = {} }: JsonSchema, name: string, holder: object): JsonSchema {
  const members = properties as Record<string, JsonSchema>;
  const said = Array.isArray(holder) ? items : Object.hasOwn(members, name) && members[name];
  return (said || {}) as JsonSchema;
}

/** Whoever allows a call has seen every text of it: `isCut` where they are more than anybody reads. */
export function cutData(args: Record<string, unknown>, data: Places = new Map()): Omit<ShownForms, 'listed'> {
  let isCut = false;
  let hasData = false;
  let left = TEXTS_SHOWN_MAX;
  let namesLeft = NAMES_SHOWN_MAX;
  const cut = ({ holder, name, text }: PlacedText): string => {
    if (data.get(holder)?.has(name)) {
      hasData = true;
      return beginningOf(text, DATA_SHOWN);
    }
    left -= text.length;
    if (left >= 0 || text.length <= LATE_TEXT_SHOWN) return text;
    isCut = true;
    return beginningOf(text, LATE_TEXT_SHOWN);
  };
  const shorten = (item: unknown, name: string, holder: object): unknown => {
    if (typeof item === 'string') return cut({ holder, name, text: item });
    if (Array.isArray(item)) return item.map((each, place) => shorten(each, String(place), item));
    return typeof item === 'object' && item !== null ? shortenMembers(item) : item;
  };
  const shortenMembers = (holder: object): Record<string, unknown> => {
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(holder)) {
      namesLeft -= name.length;
      if (namesLeft >= 0) members.push([name, shorten(member, name, holder)]);
      else isCut = true;
    }
    return Object.fromEntries(members);
  };
  const value = shortenMembers(args);
  return { whole: { value, isCut }, hasData };
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
    return beginningOf(text, TEXT_SHOWN_MAX);
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
