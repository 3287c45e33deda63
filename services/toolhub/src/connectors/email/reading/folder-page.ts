import type { FetchMessageObject, ImapFlow, SearchObject } from 'imapflow';
import { Type } from 'typebox';
import type { PageArguments, ToolContext } from '../../connector.ts';
import { badCursor, decodeCursor, encodeCursor } from '../../vendor-api/cursor.ts';
import type { EmailCredential } from '../credential.ts';
import { numberAboveAll, openFolder } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';
import type { MessageHead } from '../mime/message.ts';
import { type ComparedHere, comparedHere } from './beyond-ascii.ts';
import { daysAround, daysOf, isWithin, type SearchDays } from './days.ts';

export interface FolderArguments extends PageArguments {
  folder?: string;
  query?: string;
  from?: string;
  to?: string;
  subject?: string;
  since?: string;
  before?: string;
  unseen?: boolean;
}

export interface FolderPage<Item> {
  items: Item[];
  next_cursor: string | null;
}

/** What is to be looked through: messages of the folder with numbers below this one, newest first. */
export interface FolderScan {
  folder: string;
  criteria: SearchObject;
  below: number;
  /** What the server could not be asked for, looked for here; null where it was asked for everything. */
  isMatch: ((message: DatedHead) => boolean) | null;
  /** Whether few of those that the server finds are expected to match. */
  isRare: boolean;
}

export interface DatedHead {
  head: MessageHead;
  /** When the server got it; undefined where it does not say. */
  arrivedAt: Date | undefined;
}

export function arrivalOf({ internalDate }: FetchMessageObject): Date | undefined {
  const at = new Date(internalDate ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

const cursorSchema = Type.Object(
  { validity: Type.String(), below: Type.Integer({ minimum: 1 }) },
  { additionalProperties: false },
);

/** One page of a folder. `look` answers what it found, and from which number down nothing has been looked at. */
export function readFolderPage<Item>(
  pool: ImapPool,
  { args, context }: { args: FolderArguments; context: ToolContext<EmailCredential> },
  look: (client: ImapFlow, scan: FolderScan) => Promise<{ items: Item[]; below: number }>,
): Promise<FolderPage<Item>> {
  const folder = args.folder ?? 'INBOX';
  const position = decodeCursor(cursorSchema, args.cursor);
  const days = daysOf(args, context.now());
  return pool.use(context, async (client) => {
    const mailbox = await openFolder(client, folder, { readOnly: true });
    const validity = String(mailbox.uidValidity);
    // The server renumbered the folder: positions in the old numbers mean nothing now.
    if (position !== undefined && position.validity !== validity) throw badCursor();
    const above = await numberAboveAll(client, mailbox);
    if (days === null) return { items: [], next_cursor: null };
    const newest = Math.min(position?.below ?? above, above);
    const { asked, left } = shareOut(client, days);
    const criteria = { ...asked, ...criteriaOf(args) };
    const scan = { folder, criteria, below: newest };
    const { items, below } = await look(client, {
      ...scan,
      isMatch: matcherOf(left, null),
      isRare: false,
    }).catch((error: unknown) => {
      const compared = comparedHere(criteria, error);
      if (compared === null) throw error;
      const isMatch = matcherOf(left, compared.isMatch);
      return look(client, { ...scan, criteria: compared.criteria, isMatch, isRare: true });
    });
    return { items, next_cursor: below > 1 ? encodeCursor({ validity, below }) : null };
  });
}

/** A server that counts in seconds (RFC 5032) is asked for the days themselves; of the others they are left to be looked for here. */
function shareOut(client: ImapFlow, days: SearchDays): { asked: SearchDays; left: SearchDays | null } {
  const isAsked = Object.keys(days).length === 0 || client.capabilities.has('WITHIN');
  return isAsked ? { asked: days, left: null } : { asked: daysAround(days), left: days };
}

function matcherOf(days: SearchDays | null, isShown: ComparedHere['isMatch'] | null): FolderScan['isMatch'] {
  if (days === null && isShown === null) return null;
  return ({ head, arrivedAt }) =>
    (days === null || arrivedAt === undefined || isWithin(days, arrivedAt)) && isShown?.(head) !== false;
}

function criteriaOf(args: FolderArguments): SearchObject {
  return {
    ...(args.query === undefined ? {} : { text: args.query }),
    ...(args.from === undefined ? {} : { from: args.from }),
    ...(args.to === undefined ? {} : { to: args.to }),
    ...(args.subject === undefined ? {} : { subject: args.subject }),
    ...(args.unseen === undefined ? {} : { seen: !args.unseen }),
  };
}
