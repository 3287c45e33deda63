// Pages of a folder of any shape: every message that fits comes once, newest first, and each call does a bounded amount.
import fc from 'fast-check';
import type { ImapFlow } from 'imapflow';
import { describe, expect, it } from 'vitest';
import type { ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import type { ImapPool } from '../imap/pool.ts';
import { type ScanLimits, searchMessages } from './search.ts';

interface Folder {
  uids: number[];
  withAttachment: Set<number>;
  searches: number;
  fetched: number;
}

/** The part of a connection that a search needs, over a folder in memory. */
function poolOver(folder: Folder): ImapPool {
  const client = {
    mailboxOpen: async () => ({
      uidValidity: 7n,
      uidNext: (folder.uids.at(-1) ?? 0) + 1,
      exists: folder.uids.length,
    }),
    search: async ({ uid }: { uid: string }) => {
      folder.searches += 1;
      const [low = 0, high = 0] = uid.split(':').map(Number);
      return folder.uids.filter((one) => one >= low && one <= high);
    },
    on: () => {},
    off: () => {},
    async *fetch(range: string) {
      const uids = range.split(',').map(Number);
      folder.fetched += uids.length;
      for (const uid of uids)
        yield {
          seq: folder.uids.indexOf(uid) + 1,
          uid,
          flags: new Set(),
          bodyStructure: { type: folder.withAttachment.has(uid) ? 'application/pdf' : 'text/plain' },
        };
    },
  };
  return {
    use: async (_context, work) => work(client as unknown as ImapFlow),
    size: () => ({ open: 0, idle: 0 }),
    close: async () => {},
  };
}

const limits: ScanLimits = {
  windowUids: 3,
  windowUidsMax: 50,
  windows: 4,
  candidates: 10,
  candidatesAtOnce: 4,
};
const CALLS_MAX = 2_000;

async function readAll(folder: Folder, args: { limit: number; has_attachment?: boolean }): Promise<number[]> {
  const seen: number[] = [];
  let cursor: string | undefined;
  for (let calls = 0; calls < CALLS_MAX; calls += 1) {
    const before = { searches: folder.searches, fetched: folder.fetched };
    const page = await searchMessages(
      poolOver(folder),
      { ...args, ...(cursor === undefined ? {} : { cursor }) },
      { now: () => new Date() } as ToolContext<EmailCredential>,
      limits,
    );
    expect(folder.searches - before.searches).toBeLessThanOrEqual(limits.windows);
    expect(folder.fetched - before.fetched).toBeLessThanOrEqual(Math.max(limits.candidates, args.limit));
    expect(page.items.length).toBeLessThanOrEqual(args.limit);
    seen.push(...page.items.map(({ uid }) => uid));
    if (page.next_cursor === null) return seen;
    cursor = page.next_cursor;
  }
  throw new Error('the pages do not end');
}

const folders = fc.uniqueArray(fc.integer({ min: 1, max: 3_000 }), { maxLength: 80 }).chain((uids) =>
  fc.subarray(uids).map((attached): Folder => {
    const sorted = uids.toSorted((left, right) => left - right);
    return { uids: sorted, withAttachment: new Set(attached), searches: 0, fetched: 0 };
  }),
);

describe('searching in pages', () => {
  it('finds each message once, newest first, within its bounds', async () => {
    const choice = fc.constantFrom(undefined, true, false);
    await fc.assert(
      fc.asyncProperty(folders, fc.integer({ min: 1, max: 10 }), choice, async (folder, limit, wanted) => {
        const expected = folder.uids
          .filter((uid) => wanted === undefined || folder.withAttachment.has(uid) === wanted)
          .toReversed();
        const args = { limit, ...(wanted === undefined ? {} : { has_attachment: wanted }) };
        expect(await readAll(folder, args)).toEqual(expected);
      }),
    );
  });
});
