import type { FetchMessageObject, ImapFlow } from 'imapflow';
import type { ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { tooLarge } from '../imap/guard.ts';
import { fetchEach, searchWindow } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';
import { type MessageSummary, readHead } from '../mime/message.ts';
import { readMimeTree } from '../mime/mime-tree.ts';
import {
  arrivalOf,
  type DatedHead,
  type FolderArguments,
  type FolderPage,
  type FolderScan,
  readFolderPage,
} from './folder-page.ts';

export interface SearchArguments extends FolderArguments {
  has_attachment?: boolean;
}

/**
 * A search over a whole mailbox may answer with millions of numbers, so it goes through windows of numbers, newest
 * first, that grow while little is found. A call that has seen enough windows returns what it has, and a cursor.
 */
export interface ScanLimits {
  windowUids: number;
  windowUidsMax: number;
  windows: number;
  /** Servers cannot search by attachment, nor all of them for every letter; so many candidates are looked at in one call. */
  candidates: number;
  candidatesAtOnce: number;
}

const LIMITS: ScanLimits = {
  windowUids: 5_000,
  windowUidsMax: 500_000,
  windows: 40,
  candidates: 1_000,
  candidatesAtOnce: 100,
};
const WINDOW_GROWTH = 4;
/** Of the days around those that are asked for nothing matches, so that one at a time would take long. */
const DAYS_AT_ONCE = 50;

export function searchMessages(
  pool: ImapPool,
  args: SearchArguments,
  context: ToolContext<EmailCredential>,
  limits: ScanLimits = LIMITS,
): Promise<FolderPage<MessageSummary>> {
  return readFolderPage(pool, { args, context }, async (client, { below, ...asked }) => {
    const scan: Scan = { items: [], below };
    await scanFolder(client, scan, { ...asked, args, limits });
    return scan;
  });
}

interface Scan {
  items: MessageSummary[];
  /** Everything from this number up has been looked at. */
  below: number;
}

interface ScanInput extends Pick<FolderScan, 'folder' | 'criteria' | 'isMatch' | 'isRare'> {
  args: SearchArguments;
  limits: ScanLimits;
}

async function scanFolder(client: ImapFlow, scan: Scan, input: ScanInput): Promise<void> {
  const { args, limits, criteria } = input;
  let width = limits.windowUids;
  let candidatesLeft = limits.candidates;
  for (let window = 0; window < limits.windows && scan.below > 1; window += 1) {
    const high = scan.below - 1;
    const low = Math.max(1, scan.below - width);
    const found = await searchWindow(client, { ...criteria, uid: `${low}:${high}` });
    if (found === null) {
      // More than one answer may name: a window of the first size always fits.
      if (width === limits.windowUids) throw tooLarge('more numbers of messages than were asked for');
      width = limits.windowUids;
      continue;
    }
    const uids = found.filter((uid) => uid >= low && uid <= high);
    uids.sort((left, right) => right - left);
    const looked = await takeMatches(client, scan, { ...input, uids: uids.slice(0, candidatesLeft) });
    candidatesLeft -= looked;
    if (looked < uids.length) return;
    scan.below = low;
    if (scan.items.length >= args.limit || candidatesLeft <= 0) return;
    width = Math.min(width * WINDOW_GROWTH, limits.windowUidsMax);
  }
}

/** Adds what fits to the page and says how many of the numbers it has looked at. */
async function takeMatches(
  client: ImapFlow,
  scan: Scan,
  { args, folder, limits, uids, isMatch, isRare }: Omit<ScanInput, 'criteria'> & { uids: readonly number[] },
): Promise<number> {
  const wanted = args.has_attachment;
  const isExpected = wanted === undefined && !isRare;
  const extra = isMatch === null ? 0 : DAYS_AT_ONCE;
  let looked = 0;
  while (looked < uids.length && scan.items.length < args.limit) {
    const room = args.limit - scan.items.length;
    const atOnce = isExpected ? Math.max(room, extra) : limits.candidatesAtOnce;
    const batch = uids.slice(looked, looked + atOnce);
    const candidates = await fetchCandidates(client, batch, folder);
    for (const uid of batch) {
      if (scan.items.length >= args.limit) return looked;
      looked += 1;
      scan.below = uid;
      const candidate = candidates.get(uid);
      // A message may have gone since the search.
      if (candidate === undefined || isMatch?.(candidate) === false) continue;
      const { head: summary } = candidate;
      if (wanted === undefined || summary.has_attachments === wanted) scan.items.push(summary);
    }
  }
  return looked;
}

function fetchCandidates(
  client: ImapFlow,
  uids: readonly number[],
  folder: string,
): Promise<Map<number, DatedHead & { head: MessageSummary }>> {
  const query = {
    uid: true,
    flags: true,
    envelope: true,
    bodyStructure: true,
    internalDate: true,
    size: true,
  };
  return fetchEach(client, { uids, query }, (message) => ({
    ...{ head: toSummary(message, folder), arrivedAt: arrivalOf(message) },
  }));
}

function toSummary(message: FetchMessageObject, folder: string): MessageSummary {
  const tree = message.bodyStructure && readMimeTree(message.bodyStructure);
  return {
    ...readHead(message, folder),
    size: message.size ?? 0,
    has_attachments: (tree?.attachments.length ?? 0) > 0,
  };
}
