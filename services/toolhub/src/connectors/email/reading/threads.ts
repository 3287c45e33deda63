import type { FetchMessageObject, ImapFlow } from 'imapflow';
import type { ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { tooLarge } from '../imap/guard.ts';
import { fetchEach, searchWindow } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';
import { MESSAGE_ID, unfold } from '../mime/header-fields.ts';
import { type Flag, readHead } from '../mime/message.ts';
import {
  arrivalOf,
  type DatedHead,
  type FolderArguments,
  type FolderPage,
  type FolderScan,
  readFolderPage,
} from './folder-page.ts';

/** One call looks at so many messages, newest first; a cursor goes on where it ended. */
const MESSAGES_MAX = 300;
const BATCH_MESSAGES = 100;
/** Numbers of messages asked for at once: as many as one answer may name. */
const WINDOW_UIDS = 5_000;
const WINDOWS_MAX = 40;
const HEADERS_READ_MAX = 16 * 1024;
const REFERENCES_MAX = 50;
const PARTICIPANTS_MAX = 50;

/** `Re:`, `Fwd:` and their likes, of which each answer may add one. */
const ANSWER_MARKS = /^(?:(?:re|aw|sv|fwd?|wg)(?:\[\d{1,3}\])?:\s*){1,20}/i;

export interface Thread {
  thread_id: string;
  subject: string;
  participants: string[];
  last_date: string | null;
  unseen: number;
  messages: {
    uid: number;
    message_id: string | null;
    from: string | null;
    date: string | null;
    flags: Flag[];
  }[];
}

export function listThreads(
  pool: ImapPool,
  args: FolderArguments,
  context: ToolContext<EmailCredential>,
): Promise<FolderPage<Thread>> {
  return readFolderPage(pool, { args, context }, async (client, scan) => {
    const groups = createGroups(args.limit);
    const below = await collect(client, scan, groups);
    return { items: groups.threads(), below };
  });
}

/** Answers from which number down nothing has been looked at. */
async function collect(
  client: ImapFlow,
  { criteria, folder, below: start, isMatch }: FolderScan,
  groups: Groups,
): Promise<number> {
  let below = start;
  let left = MESSAGES_MAX;
  for (let window = 0; window < WINDOWS_MAX && below > 1; window += 1) {
    const low = Math.max(1, below - WINDOW_UIDS);
    const found = await searchWindow(client, { ...criteria, uid: `${low}:${below - 1}` });
    if (found === null) throw tooLarge('more numbers of messages than were asked for');
    const uids = found.filter((uid) => uid >= low && uid < below).sort((one, other) => other - one);
    for (let index = 0; index < uids.length; index += BATCH_MESSAGES) {
      if (left <= 0) return below;
      const batch = uids.slice(index, index + Math.min(BATCH_MESSAGES, left));
      left -= batch.length;
      const messages = await fetchLinked(client, batch, folder);
      for (const uid of batch) {
        const message = messages.get(uid);
        const isWanted = message !== undefined && isMatch?.(message) !== false;
        if (isWanted && !groups.add(message)) return uid + 1;
        below = uid;
      }
      if (batch.length < BATCH_MESSAGES && index + batch.length < uids.length) return below;
    }
    below = low;
  }
  return below;
}

interface LinkedMessage extends DatedHead {
  /** The server's own number, where it has one. */
  threadId: string | null;
  /** This message and those that it answers, oldest first. */
  ids: string[];
}

function fetchLinked(
  client: ImapFlow,
  uids: readonly number[],
  folder: string,
): Promise<Map<number, LinkedMessage>> {
  const query = {
    uid: true,
    flags: true,
    envelope: true,
    internalDate: true,
    threadId: true,
    headers: ['references', 'in-reply-to'],
  };
  return fetchEach(client, { uids, query }, (message) => toLinked(message, folder));
}

function toLinked(message: FetchMessageObject, folder: string): LinkedMessage {
  const fields = unfold(message.headers?.toString('latin1', 0, HEADERS_READ_MAX) ?? '');
  const idsIn = (text: string | undefined) => text?.match(MESSAGE_ID) ?? [];
  const earlier = [...idsIn(fields.get('references')), ...idsIn(fields.get('in-reply-to'))];
  const own = idsIn(message.envelope?.messageId);
  const [root = [], rest] = [earlier.slice(0, 1), earlier.slice(1).slice(-REFERENCES_MAX)];
  return {
    head: readHead(message, folder),
    arrivedAt: arrivalOf(message),
    threadId: message.threadId ?? null,
    ids: [...new Set([...root, ...rest, ...own])],
  };
}

interface Groups {
  /** False when the message would begin one thread more than asked for. */
  add(message: LinkedMessage): boolean;
  threads(): Thread[];
}

interface Group {
  messages: LinkedMessage[];
}

/** Messages belong together when one names another, or names what another names (RFC 5322 3.6.4). */
function createGroups(threadsMax: number): Groups {
  const byId = new Map<string, Group>();
  const groups = new Set<Group>();

  return {
    add(message) {
      const keys = message.threadId === null ? message.ids : [`server:${message.threadId}`];
      const known = [...new Set(keys.flatMap((id) => byId.get(id) ?? []))];
      if (known.length === 0 && groups.size >= threadsMax) return false;
      const group = known[0] ?? { messages: [] };
      for (const other of known.slice(1)) merge(group, other);
      group.messages.push(message);
      groups.add(group);
      for (const id of keys) byId.set(id, group);
      return true;
    },
    threads: () => [...groups].map(toThread).sort((one, other) => newestUid(other) - newestUid(one)),
  };

  function merge(into: Group, other: Group): void {
    into.messages.push(...other.messages);
    groups.delete(other);
    for (const [id, group] of byId) if (group === other) byId.set(id, into);
  }
}

function newestUid({ messages }: Thread): number {
  return messages[0]?.uid ?? 0;
}

function toThread({ messages }: Group): Thread {
  const newestFirst = messages.toSorted((one, other) => other.head.uid - one.head.uid);
  const heads = newestFirst.map(({ head }) => head);
  const oldest = newestFirst.at(-1) as LinkedMessage;
  const people = heads.flatMap(({ from, to, cc }) => [...(from === null ? [] : [from]), ...to, ...cc]);
  return {
    thread_id: oldest.threadId ?? oldest.ids[0] ?? `uid:${oldest.head.uid}`,
    subject: (heads.at(-1)?.subject ?? '').replace(ANSWER_MARKS, ''),
    participants: [...new Set(people)].slice(0, PARTICIPANTS_MAX),
    last_date: heads[0]?.date ?? null,
    unseen: heads.filter(({ flags }) => !flags.includes('seen')).length,
    messages: heads.map(({ uid, message_id, from, date, flags }) => ({ uid, message_id, from, date, flags })),
  };
}
