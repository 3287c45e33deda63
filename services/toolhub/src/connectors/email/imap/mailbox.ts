import type { SkippableAnswer } from '@libs/egress';
import type {
  FetchMessageObject,
  FetchQueryObject,
  ImapFlow,
  ImapFlowError,
  ListResponse,
  MailboxObject,
  SearchObject,
} from 'imapflow';
import { ConnectorError } from '../../connector.ts';
import { hasControlCharacters } from '../addresses.ts';
import { fromImapError } from '../failures.ts';
import { FOLDER_LENGTH_MAX } from '../limits.ts';
import { mendHeaders } from '../mime/eight-bit-headers.ts';
import { fetchMessages } from './answers.ts';
import { findListed, isInbox, listAllFolders } from './folders.ts';
import { guardOf, tooLarge } from './guard.ts';
import { listKeptOut } from './kept-out.ts';
import { namespacesOf } from './namespaces.ts';

/** Opens the folder anew, so that what arrived since the connection last looked is seen. Reading never marks as seen. */
export async function openFolder(
  client: ImapFlow,
  folder: string,
  { readOnly }: { readOnly: boolean },
): Promise<MailboxObject> {
  checkFolderName(folder);
  try {
    return await client.mailboxOpen(folder, { readOnly });
  } catch (error) {
    // Servers answer a missing folder with NO, with a code or without one; the list of folders settles it.
    if ((error as ImapFlowError).responseStatus === undefined) throw error;
    const path = await findFolder(client, folder);
    if (path === null) throw noSuchFolder(folder);
    if (path === folder) throw error;
    return client.mailboxOpen(path, { readOnly });
  }
}

/** The path under which the server lists this folder, or null where there is none. */
export async function findFolder(client: ImapFlow, folder: string): Promise<string | null> {
  if (isInbox(folder)) return folder;
  return withName(client, await listToFind(client, folder), folder)?.path ?? null;
}

/** Enough of the folders to find these paths in, if they are there. */
export async function listToFind(client: ImapFlow, ...paths: readonly string[]): Promise<ListResponse[]> {
  const listed = await client.list({ listOnly: true });
  const isWanted = (prefix: string) => paths.some((path) => path.startsWith(prefix));
  return [...listed, ...(await listKeptOut(client, listed, isWanted))];
}

/** By the whole path; else by what stands behind the prefix of the account's own folders (`Sent` for `INBOX.Sent`). */
export function withName(
  client: ImapFlow,
  folders: readonly ListResponse[],
  name: string,
): ListResponse | undefined {
  const { prefix } = namespacesOf(client);
  return findListed(client, folders, name) ?? findListed(client, folders, `${prefix}${name}`);
}

export type SpecialUse = 'Sent' | 'Drafts' | 'Trash';

/** The folder that the server itself names for this (RFC 6154), else, where that does no harm, one that is called so. */
export async function findSpecialFolder(
  client: ImapFlow,
  use: SpecialUse,
  { byName }: { byName: boolean },
): Promise<string | null> {
  const folders = await listAllFolders(client);
  const holder = folders.find((folder) => folder.use === `\\${use}`);
  return holder !== undefined && (byName || holder.useSource === 'server') ? holder.path : null;
}

/** imapflow quotes what it sends; a name with control characters is none that a person could mean. */
export function checkFolderName(folder: string): void {
  if (folder === '' || folder.length > FOLDER_LENGTH_MAX || hasControlCharacters(folder)) {
    throw new ConnectorError('invalid_arguments', 'the folder is not a name that a folder can have');
  }
}

export function noSuchFolder(folder: string): ConnectorError {
  return new ConnectorError('invalid_arguments', `there is no folder ${JSON.stringify(folder)}`);
}

export function noSuchMessage(folder: string, uid: number): ConnectorError {
  return new ConnectorError('invalid_arguments', `there is no message ${uid} in ${JSON.stringify(folder)}`);
}

/** The server would not search as it was asked. */
export class SearchRefused extends ConnectorError {
  constructor(refusal: ConnectorError) {
    super('platform_error', refusal.message, { platformCode: refusal.platformCode ?? 'NO', cause: refusal });
  }
}

/** imapflow answers `false` where the server said NO or BAD to a command that it does not throw for. */
export function expectDone<T>(client: ImapFlow, result: T | false | undefined, what: string): T {
  if (result === false || result === undefined) throw refusedTo(client, what);
  return result;
}

/** What the server said as it refused the last command, if it said anything: it may be full, or ask to slow down. */
export function refusedTo(client: ImapFlow, what: string): ConnectorError {
  const refusal = guardOf(client)?.refusal ?? null;
  return refusal === null
    ? new ConnectorError('platform_error', `the IMAP server refused to ${what}`, { platformCode: 'NO' })
    : fromImapError(refusal, { oauth: false, refused: `to ${what}` });
}

/** Whether the guard left out an answer of this kind to the last command. */
export function wasSkipped(client: ImapFlow, kind: SkippableAnswer): boolean {
  return guardOf(client)?.skipped.some((answer) => answer.kind === kind) ?? false;
}

/**
 * What a server can say of any message in a few words. One message that says more of itself than is read does not hide
 * the others, nor is it hidden itself.
 */
function fetchBare(client: ImapFlow, uids: readonly number[]): Promise<FetchMessageObject[]> {
  return fetchMessages(client, uids, { uid: true, flags: true, internalDate: true, size: true });
}

/** Messages by their numbers, each read by `read`; of one that says too much of itself, what a few words tell. */
export async function fetchEach<Read>(
  client: ImapFlow,
  { uids, query }: { uids: readonly number[]; query: FetchQueryObject },
  read: (message: FetchMessageObject) => Read,
): Promise<Map<number, Read>> {
  const fetched = await fetchMessages(client, uids, query);
  const known = new Set(fetched.map(({ uid }) => uid));
  const missing = wasSkipped(client, 'FETCH') ? uids.filter((uid) => !known.has(uid)) : [];
  await mendHeaders(client, fetched);
  const found = new Map(fetched.map((message) => [message.uid, read(message)]));
  for (const message of await fetchBare(client, missing)) found.set(message.uid, read(message));
  return found;
}

/** The number above that of every message. Servers need not say it when a folder is opened (RFC 3501 6.3.1), and Courier does not. */
export async function numberAboveAll(client: ImapFlow, mailbox: MailboxObject): Promise<number> {
  if (mailbox.exists === 0) return 1;
  if (mailbox.uidNext) return mailbox.uidNext;
  // The place of the newest is asked for, and news of others may come with it.
  const told = await client.fetchAll(String(mailbox.exists), { uid: true });
  return Math.max(0, ...told.map(({ uid }) => uid ?? 0)) + 1;
}

/** Null where more were found than one answer may name. */
export async function searchWindow(client: ImapFlow, query: SearchObject): Promise<number[] | null> {
  const answer = await client.search(query, { uid: true });
  if (wasSkipped(client, 'SEARCH')) return null;
  if (answer) return answer;
  const refusal = refusedTo(client, 'search');
  throw refusal.code === 'platform_error' ? new SearchRefused(refusal) : refusal;
}

export async function searchUids(client: ImapFlow, query: SearchObject): Promise<number[]> {
  const found = await searchWindow(client, query);
  if (found === null) throw tooLarge('more numbers of messages than were asked for');
  return found;
}
