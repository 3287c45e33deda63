import { nextTurn } from '@libs/runtime';
import type { ImapFlow, ListResponse } from 'imapflow';
import { specialUse } from 'imapflow/lib/special-use.js';
import { encodePath } from 'imapflow/lib/tools.js';
import { FOLDER_LENGTH_MAX } from '../limits.ts';
import { listKeptOut } from './kept-out.ts';
import { type FolderKind, kindOf, namespacesOf } from './namespaces.ts';

export interface ListedFolder {
  path: string;
  name: string;
  delimiter: string | null;
  isSelectable: boolean;
  /** What it is for: `\Sent`, … */
  use: string | null;
  /** Whether the server itself says so (RFC 6154), or only the name sounds like it. */
  useSource: 'server' | 'name' | null;
}

const INBOX = 'INBOX';
/** Looked at in one go; in between, everything else that this process does gets its turn. */
const TURN_FOLDERS = 50;

/**
 * All folders that can be used, the inbox first, then by the characters of their paths. The library's own list is not
 * asked for more than the names: it compares paths by the rules of a language, which takes seconds for ten thousand long
 * ones, and asks for subscriptions, which nobody here wants to know. What a server keeps out of its own list comes where it
 * is asked for, and serves for no use.
 */
export async function listAllFolders(
  client: ImapFlow,
  { withKeptOut = false }: { withKeptOut?: boolean } = {},
): Promise<ListedFolder[]> {
  const usual = await client.list({ listOnly: true });
  const listed = withKeptOut ? [...usual, ...(await listKeptOut(client, usual))] : usual;
  const serverSaysUse = client.capabilities.has('SPECIAL-USE') || client.capabilities.has('XLIST');
  const namespaces = namespacesOf(client);
  const folders: ListedFolder[] = [];
  const holders = new Map<string, { folder: ListedFolder; rank: number }>();
  for (const [index, entry] of listed.entries()) {
    if (index % TURN_FOLDERS === TURN_FOLDERS - 1) await nextTurn();
    if (entry.path.length > FOLDER_LENGTH_MAX) continue;
    if (!isListedAs(entry, encodePath(client, entry.path))) {
      if (entry.pathAsListed.length <= FOLDER_LENGTH_MAX) folders.push(unreadable(entry));
      continue;
    }
    const folder = toFolder(entry);
    folders.push(folder);
    if (index >= usual.length) continue;
    claimUse(holders, folder, { entry, serverSaysUse, kind: kindOf(namespaces, folder.path) });
  }
  // Not every server lists it, but every mailbox has one (RFC 9051 5.1).
  if (!folders.some(({ path }) => isInbox(path))) folders.push(inbox(folders[0]?.delimiter ?? null));
  return folders.sort(byPath);
}

/** The folder with exactly this path, unless its name only reads so. */
export function findListed(
  client: ImapFlow,
  folders: readonly ListResponse[],
  path: string,
): ListResponse | undefined {
  const encoded = encodePath(client, path);
  return folders.find((entry) => entry.path === path && isListedAs(entry, encoded));
}

/** Whether asking for the folder in this encoding is asking for this one; some servers put a delimiter before all paths. */
function isListedAs({ path, pathAsListed, delimiter }: ListResponse, encoded: string): boolean {
  return isInbox(path) || pathAsListed === encoded || pathAsListed === `${delimiter}${encoded}`;
}

export function isInbox(path: string): boolean {
  return path.length === INBOX.length && path.toUpperCase() === INBOX;
}

function inbox(delimiter: string | null): ListedFolder {
  return { path: INBOX, name: INBOX, delimiter, isSelectable: true, use: '\\Inbox', useSource: 'name' };
}

function toFolder({ path, name, delimiter, flags }: ListResponse): ListedFolder {
  const isSelectable = !flags.has('\\Noselect') && !flags.has('\\NonExistent');
  const use = isInbox(path) ? '\\Inbox' : null;
  return { path, name, delimiter: delimiter || null, isSelectable, use, useSource: use && 'name' };
}

/**
 * A name that is not in IMAP's encoding (RFC 3501 5.1.3) reads as another, of which there may be a folder: `R&D` as `R`.
 * It is shown as the server wrote it, and cannot be asked for.
 */
function unreadable({ pathAsListed: path, delimiter }: ListResponse): ListedFolder {
  const name = (delimiter && path.split(delimiter).at(-1)) || path;
  return { path, name, delimiter: delimiter || null, isSelectable: false, use: null, useSource: null };
}

const SOURCES = ['extension', 'name', 'name-guess'] as const;
/** More levels than any path has. */
const DEPTH_MAX = 1_000;

/**
 * One folder for each use: the one that the server names, the account's own before a shared one, else the one of its own
 * whose name says it best, the outermost first. What people call their folders says nothing of anybody else's mail.
 */
function claimUse(
  holders: Map<string, { folder: ListedFolder; rank: number }>,
  folder: ListedFolder,
  { entry, serverSaysUse, kind }: { entry: ListResponse; serverSaysUse: boolean; kind: FolderKind },
): void {
  const { flag, source } = specialUse(serverSaysUse, entry);
  if (folder.use !== null || flag === null || source === undefined || kind === 'others') return;
  const isNamed = source !== 'extension';
  if (isNamed && (kind === 'shared' || entry.flags.has('\\NonExistent'))) return;
  const rank = (SOURCES.indexOf(source) + (kind === 'shared' ? 0.5 : 0)) * DEPTH_MAX + entry.parent.length;
  const holder = holders.get(flag);
  if (holder && (holder.rank < rank || (holder.rank === rank && holder.folder.path <= folder.path))) return;
  if (holder) Object.assign(holder.folder, { use: null, useSource: null });
  folder.use = flag;
  folder.useSource = source === 'extension' ? 'server' : 'name';
  holders.set(flag, { folder, rank });
}

function byPath(left: ListedFolder, right: ListedFolder): number {
  if (isInbox(left.path) || isInbox(right.path)) return isInbox(left.path) ? -1 : 1;
  return left.path < right.path ? -1 : 1;
}
