import type { ImapFlow, SearchObject } from 'imapflow';
import { Type } from 'typebox';
import type { PageArguments, ToolContext } from '../../connector.ts';
import { badCursor, decodeCursor, encodeCursor } from '../../vendor-api/cursor.ts';
import type { EmailCredential } from '../credential.ts';
import { numberAboveAll, openFolder } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';
import { type ComparedHere, comparedHere } from './beyond-ascii.ts';
import { daysOf } from './days.ts';

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
  isMatch: ComparedHere['isMatch'] | null;
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
  const criteria = criteriaOf(args, context.now());
  return pool.use(context, async (client) => {
    const mailbox = await openFolder(client, folder, { readOnly: true });
    const validity = String(mailbox.uidValidity);
    // The server renumbered the folder: positions in the old numbers mean nothing now.
    if (position !== undefined && position.validity !== validity) throw badCursor();
    const above = await numberAboveAll(client, mailbox);
    if (criteria === null) return { items: [], next_cursor: null };
    const newest = Math.min(position?.below ?? above, above);
    const scan = { folder, criteria, below: newest };
    const { items, below } = await look(client, { ...scan, isMatch: null }).catch((error: unknown) => {
      const compared = comparedHere(criteria, error);
      if (compared === null) throw error;
      return look(client, { ...scan, ...compared });
    });
    return { items, next_cursor: below > 1 ? encodeCursor({ validity, below }) : null };
  });
}

/** Null where nothing can be found. */
function criteriaOf(args: FolderArguments, now: Date): SearchObject | null {
  const days = daysOf(args, now);
  if (days === null) return null;
  return {
    ...days,
    ...(args.query === undefined ? {} : { text: args.query }),
    ...(args.from === undefined ? {} : { from: args.from }),
    ...(args.to === undefined ? {} : { to: args.to }),
    ...(args.subject === undefined ? {} : { subject: args.subject }),
    ...(args.unseen === undefined ? {} : { seen: !args.unseen }),
  };
}
