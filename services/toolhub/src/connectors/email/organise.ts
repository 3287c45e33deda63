import type { ImapFlow } from 'imapflow';
import { Type } from 'typebox';
import { ConnectorError, type PageArguments, type ToolContext } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import type { EmailCredential } from './credential.ts';
import { connectionLost } from './failures.ts';
import { fetchMessages, uidSet } from './imap/answers.ts';
import { findListed, isInbox, type ListedFolder, listAllFolders } from './imap/folders.ts';
import {
  checkFolderName,
  expectDone,
  findFolder,
  findSpecialFolder,
  listToFind,
  noSuchFolder,
  openFolder,
  refusedTo,
  searchUids,
  withName,
} from './imap/mailbox.ts';
import { namespacesOf } from './imap/namespaces.ts';
import type { ImapPool } from './imap/pool.ts';
import { type Flag, readFlags, systemFlag } from './mime/message.ts';

type EmailContext = ToolContext<EmailCredential>;

export interface Folder {
  path: string;
  name: string;
  delimiter: string | null;
  special_use: string | null;
  selectable: boolean;
  messages: number | null;
  unseen: number | null;
}

const cursorSchema = Type.Object({ after: Type.String() }, { additionalProperties: false });

/** The counts cost a command each, so only the folders of this page are counted. */
export function listFolders(
  pool: ImapPool,
  args: PageArguments,
  context: EmailContext,
): Promise<{ items: Folder[]; next_cursor: string | null }> {
  const position = decodeCursor(cursorSchema, args.cursor);
  return pool.use(context, async (client) => {
    const folders = await listAllFolders(client, { withKeptOut: true });
    const start =
      position === undefined
        ? 0
        : folders.findIndex((folder) => rankOf(folder.path) > rankOf(position.after));
    const page = start < 0 ? [] : folders.slice(start, start + args.limit);
    const items: Folder[] = [];
    for (const [index, folder] of page.entries()) {
      items.push(await describeFolder(client, folder));
      context.progress(index + 1, page.length, 'folders');
    }
    const last = page.at(-1);
    const hasMore = last !== undefined && start + page.length < folders.length;
    return { items, next_cursor: hasMore ? encodeCursor({ after: last.path }) : null };
  });
}

/** The inbox comes first, as in the list. */
function rankOf(path: string): string {
  return isInbox(path) ? '' : path;
}

async function describeFolder(client: ImapFlow, folder: ListedFolder): Promise<Folder> {
  const { path, name, delimiter, use, isSelectable } = folder;
  const status = isSelectable ? await client.status(path, { messages: true, unseen: true }) : false;
  if (isSelectable && status === false && !client.usable) throw connectionLost();
  return {
    path,
    name,
    delimiter,
    special_use: use?.replace('\\', '').toLowerCase() ?? null,
    selectable: isSelectable,
    messages: status ? (status.messages ?? null) : null,
    unseen: status ? (status.unseen ?? null) : null,
  };
}

export interface FlagArguments {
  folder: string;
  uids: number[];
  add?: Flag[];
  remove?: Flag[];
}

export function updateFlags(
  pool: ImapPool,
  args: FlagArguments,
  context: EmailContext,
): Promise<{ folder: string; messages: { uid: number; flags: Flag[] }[]; missing: number[] }> {
  const { add = [], remove = [] } = args;
  if (add.length + remove.length === 0)
    throw new ConnectorError('invalid_arguments', 'add or remove at least one flag');
  if (add.some((flag) => remove.includes(flag))) {
    throw new ConnectorError('invalid_arguments', 'the same flag cannot be added and removed');
  }
  return pool.use(context, async (client) => {
    await openFolder(client, args.folder, { readOnly: false });
    const present = await findPresent(client, args.uids);
    if (present.length > 0) {
      const range = uidSet(present);
      if (add.length > 0) {
        expectDone(
          client,
          await client.messageFlagsAdd(range, add.map(systemFlag), { uid: true }),
          'set the flags',
        );
      }
      if (remove.length > 0) {
        expectDone(
          client,
          await client.messageFlagsRemove(range, remove.map(systemFlag), { uid: true }),
          'clear the flags',
        );
      }
    }
    const fetched = await fetchMessages(client, present, { uid: true, flags: true });
    return {
      folder: args.folder,
      messages: fetched.map(({ uid, flags }) => ({ uid, flags: readFlags(flags) })),
      missing: args.uids.filter((uid) => !present.includes(uid)),
    };
  });
}

async function findPresent(client: ImapFlow, uids: readonly number[]): Promise<number[]> {
  const wanted = new Set(uids);
  const found = await searchUids(client, { uid: uidSet(uids) });
  return found.filter((uid) => wanted.has(uid));
}

export interface MoveArguments {
  folder: string;
  uids: number[];
  target_folder: string;
}

export interface MoveOutcome {
  folder: string;
  target_folder: string;
  moved: { uid: number; new_uid: number | null }[];
  missing: number[];
}

/** What the first try moved the second would call missing, and what it copied would be there twice. */
const MOVED_ONCE = { isOnce: true };

export function moveMessages(
  pool: ImapPool,
  args: MoveArguments,
  context: EmailContext,
): Promise<MoveOutcome> {
  checkFolderName(args.target_folder);
  const work = async (client: ImapFlow): Promise<MoveOutcome> => {
    await openFolder(client, args.folder, { readOnly: false });
    const target = await findFolder(client, args.target_folder);
    if (target === null) throw noSuchFolder(args.target_folder);
    const present = await findPresent(client, args.uids);
    // A server would give them other numbers, or copy them.
    const isThere = client.mailbox !== false && isSameFolder(client.mailbox.path, target);
    const newUids = isThere
      ? new Map(present.map((uid) => [uid, uid]))
      : present.length > 0
        ? await moveOrCopy(client, present, target)
        : new Map();
    return {
      folder: args.folder,
      target_folder: args.target_folder,
      moved: present.map((uid) => ({ uid, new_uid: newUids.get(uid) ?? null })),
      missing: args.uids.filter((uid) => !present.includes(uid)),
    };
  };
  return pool.use(context, work, MOVED_ONCE);
}

function isSameFolder(left: string, right: string): boolean {
  return left === right || (isInbox(left) && isInbox(right));
}

export interface DeleteOutcome {
  folder: string;
  trash_folder: string;
  deleted: { uid: number; new_uid: number | null }[];
  missing: number[];
}

/** Into the trash, from which a person can take them back; nothing is destroyed. */
export function deleteMessages(
  pool: ImapPool,
  args: { folder: string; uids: number[] },
  context: EmailContext,
): Promise<DeleteOutcome> {
  const work = async (client: ImapFlow): Promise<DeleteOutcome> => {
    const trash = await findSpecialFolder(client, 'Trash', { byName: true });
    if (trash === null) throw missingFolder('trash');
    await openFolder(client, args.folder, { readOnly: false });
    if (client.mailbox !== false && client.mailbox.path === trash) {
      throw new ConnectorError('invalid_arguments', 'these messages are in the trash already');
    }
    const present = await findPresent(client, args.uids);
    const newUids = present.length > 0 ? await moveOrCopy(client, present, trash) : new Map();
    return {
      folder: args.folder,
      trash_folder: trash,
      deleted: present.map((uid) => ({ uid, new_uid: newUids.get(uid) ?? null })),
      missing: args.uids.filter((uid) => !present.includes(uid)),
    };
  };
  return pool.use(context, work, MOVED_ONCE);
}

export function missingFolder(purpose: string): ConnectorError {
  const message = `the mailbox has no folder that its server names for ${purpose}; email_create_folder makes one`;
  return new ConnectorError('platform_error', message, { platformCode: 'NONEXISTENT' });
}

export function createFolder(
  pool: ImapPool,
  { name, parent_folder }: { name: string; parent_folder?: string },
  context: EmailContext,
): Promise<{ path: string; created: boolean }> {
  return pool.use(context, async (client) => {
    const folders = await listToFind(client, parent_folder ?? '');
    const parent = parent_folder === undefined ? undefined : withName(client, folders, parent_folder);
    if (parent_folder !== undefined && parent === undefined) throw noSuchFolder(parent_folder);
    const own = namespacesOf(client);
    const delimiter = parent?.delimiter || own.delimiter || folders[0]?.delimiter || '/';
    // The server would make folders in folders of it, or refuse, each in its own way.
    if (name.includes(delimiter) || /[*%]/.test(name) || name !== name.trim()) {
      throw new ConnectorError('invalid_arguments', 'the name is not one that a folder can have here');
    }
    // Where the account's folders lie below a prefix (`INBOX.`), it is part of what the list shows.
    const path = parent === undefined ? `${own.prefix}${name}` : `${parent.path}${delimiter}${name}`;
    checkFolderName(path);
    // Not every server has a code that tells this refusal from others.
    if (findListed(client, folders, path) !== undefined) return { path, created: false };
    const made = await client.mailboxCreate(path);
    return { path: made.path, created: made.created };
  });
}

/**
 * A server with neither MOVE nor UIDPLUS can only expunge a folder as a whole, which would also destroy what someone
 * else marked as deleted; there the originals stay, marked as deleted.
 */
async function moveOrCopy(client: ImapFlow, uids: number[], target: string): Promise<Map<number, number>> {
  const range = uidSet(uids);
  const asUids = { uid: true };
  if (client.capabilities.has('MOVE')) {
    const moved = await client.messageMove(range, target, asUids);
    return expectDone(client, moved, 'move the messages').uidMap ?? new Map();
  }
  const copied = expectDone(client, await client.messageCopy(range, target, asUids), 'copy the messages');
  const isRemoved = client.capabilities.has('UIDPLUS')
    ? await client.messageDelete(range, asUids)
    : await client.messageFlagsAdd(range, ['\\Deleted'], asUids);
  if (!isRemoved) throw leftTwice(refusedTo(client, 'remove the originals'));
  return copied.uidMap ?? new Map();
}

/** Whoever asks for the same again gets another copy. */
function leftTwice(refusal: ConnectorError): ConnectorError {
  const { code, platformCode, retryAfterSeconds } = refusal;
  return new ConnectorError(code, `${refusal.message}; the messages are in both folders now`, {
    ...{ cause: refusal, outcomeOpen: true },
    ...(platformCode === null ? {} : { platformCode }),
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  });
}
