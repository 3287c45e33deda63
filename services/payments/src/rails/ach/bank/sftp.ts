import { posix } from 'node:path';
import type SftpClient from 'ssh2-sftp-client';
import type { RailLog } from '../../alert.ts';
import { hasEnd } from '../nacha/loose.ts';
import { temporaryFileName } from '../outgoing/traces.ts';
import { SftpConnection, type SftpOptions } from './sftp-connection.ts';
import { readSftpPlace } from './sftp-place.ts';
import { Stillness } from './stillness.ts';
import type { AchTransport, InboundFile, OutboundFile } from './transport.ts';

export interface AchSftpDependencies extends Omit<SftpOptions, 'place'> {
  /** `sftp://user@host:port/folder`; a password may stand in it where the bank takes no key. */
  url: string;
  now: () => Date;
  log: RailLog;
  /** Below the folder of the URL: where the bank picks up, where it puts down, where we keep what was read. */
  folders?: { outbound: string; inbound: string; archive: string };
  /** How long a file must lie still before it counts as whole. */
  settleMs?: number;
  /** How long one without its last record must lie still before nobody goes on with it. */
  brokenOffMs?: number | undefined;
}

const FOLDERS = { outbound: 'outbound', inbound: 'inbound', archive: 'inbound/archive' };
const SETTLE_MS = 10_000;
const BROKEN_OFF_MS = 30_000;
const FILES_PER_FETCH_MAX = 50;
/** A third of the time after which a server counts as silent: the file that is begun last has the rest. */
const FETCH_MS = 60_000;
/** Two million lines of 94 columns are the most that is read. */
const FILE_BYTES_MAX = 200_000_000;
/** Under which a file lies until it is whole. */
const DRAFT = /\.(part|tmp|filepart)$/i;
const HIDDEN = /^\./;

type ListedFile = Awaited<ReturnType<SftpClient['list']>>[number];
type FileState = Awaited<ReturnType<SftpClient['stat']>>;
type FetchedFile = InboundFile & { state: FileState };

/** Under our name lies a file that is not ours; only a person can say which of the two is right. */
export class SftpNameTaken extends Error {
  override readonly name = 'SftpNameTaken';
}

export interface AchSftp extends AchTransport {
  close(): Promise<void>;
}

/** The live line: files are put into one folder of the bank's server and fetched from another. */
export function createAchSftp(options: AchSftpDependencies): AchSftp {
  const place = readSftpPlace(options.url);
  if (place instanceof Error) throw place;
  const connection = new SftpConnection({ ...options, place });
  const names = options.folders ?? FOLDERS;
  /** As they were at the last fetch. */
  let read: ReadonlyMap<string, FileState> = new Map();
  const stillness = new Stillness();
  const pathOf = (folder: keyof typeof FOLDERS, name: string) =>
    posix.join(place.folder, names[folder], name);

  return {
    async send(file) {
      await connection.use((client) => upload(client, file, pathOf('outbound', file.name)));
      return { ok: true };
    },

    collect: () =>
      connection.use(async (client) => {
        const fetching = { ...options, stillness, pathOf: (name: string) => pathOf('inbound', name) };
        const { files, isAll } = await fetchFiles(client, fetching);
        read = new Map(files.map(({ name, state }) => [name, state]));
        return { files: files.map(({ name, content }) => ({ name, content })), isAll };
      }),

    acknowledge: (name) =>
      connection.use(async (client) => {
        const state = read.get(name);
        const from = pathOf('inbound', name);
        // Another worker may have been faster.
        if (!state || !(await client.exists(from))) return;
        await client.mkdir(pathOf('archive', ''), true);
        await archive(client, { from, to: pathOf('archive', name), state, now: options.now() });
      }),

    nextAnswerAt: async () => null,
    close: () => connection.close(),
  };
}

/**
 * The bank may pick a file up as soon as it has its name, so it gets that name when it is whole. Whether this was done
 * before is known from what is written down before the renaming, since the bank may have taken the file away.
 */
async function upload(client: SftpClient, file: OutboundFile, path: string): Promise<void> {
  const content = Buffer.from(file.content, 'latin1');
  const draft = temporaryFileName(path);
  if (await client.exists(path)) {
    // Files of one day often have one size, so only the content tells whether this one is ours.
    if ((await client.get(path)).equals(content)) return;
    throw new SftpNameTaken(`${file.name} lies at the bank with another content`);
  }
  const hasDraft = (await client.exists(draft)) === '-';
  if (file.isUploaded && !hasDraft) return;
  await writeDraft(client, draft, { content, hasDraft });
  const { size } = await client.stat(draft);
  if (size !== content.length) {
    await client.delete(draft);
    throw new SftpNameTaken(`${file.name} arrived with ${size} bytes instead of ${content.length}`);
  }
  await file.noteUploaded();
  await client.rename(draft, path);
}

/** Goes on where an earlier try was cut off, if what is there is the beginning of this very file. */
async function writeDraft(
  client: SftpClient,
  draft: string,
  { content, hasDraft }: { content: Buffer; hasDraft: boolean },
): Promise<void> {
  const written = hasDraft ? await client.get(draft) : Buffer.alloc(0);
  const isBeginning = written.length > 0 && content.subarray(0, written.length).equals(written);
  if (!isBeginning) await client.put(content, draft);
  else if (written.length < content.length) await client.append(content.subarray(written.length), draft);
}

interface Archiving {
  from: string;
  to: string;
  /** As it was when it was read. */
  state: FileState;
  now: Date;
}

/** Only what was read: meanwhile the bank may have written on, or put its next file under the name. */
async function archive(client: SftpClient, { from, to, state, now }: Archiving): Promise<void> {
  const { size, modifyTime } = await client.stat(from);
  if (size !== state.size || modifyTime !== state.modifyTime) return;
  const free = async (path: string) => ((await client.exists(path)) ? `${path}.${now.getTime()}` : path);
  const kept = await free(to);
  await client.rename(from, kept);
  if ((await client.stat(kept)).size !== state.size) await client.rename(kept, await free(from));
}

function isTooLarge({ size }: ListedFile): boolean {
  return size > FILE_BYTES_MAX;
}

interface Fetching extends AchSftpDependencies {
  stillness: Stillness;
  pathOf: (name: string) => string;
}

async function fetchFiles(
  client: SftpClient,
  fetching: Fetching,
): Promise<{ files: FetchedFile[]; isAll: boolean }> {
  const { now, log, stillness, pathOf, settleMs = SETTLE_MS, brokenOffMs = BROKEN_OFF_MS } = fetching;
  const begun = now().getTime();
  const all = (await client.list(pathOf(''))).filter(({ type }) => type === '-');
  stillness.note(all, { begun, ended: now().getTime() });
  // What nobody goes on with was left behind, and is no answer that is still to come.
  const isDrafted = all.some(({ name }) => DRAFT.test(name) && stillness.stillFor(name) < brokenOffMs);
  const listed = all
    .filter(({ name }) => !DRAFT.test(name) && !HIDDEN.test(name))
    .sort((a, b) => a.modifyTime - b.modifyTime || (a.name < b.name ? -1 : 1));
  for (const { name, size } of listed.filter(isTooLarge))
    log.error(
      { alert: 'ach_file_too_large', rail: 'ach', file: name, size },
      'a file from the bank is too large to be read, and nothing settles while it lies there',
    );
  // Most servers' clocks are right, and a file that has its end may be read by them at the first look.
  const isStill = ({ name, modifyTime }: ListedFile) =>
    modifyTime <= begun - settleMs || stillness.stillFor(name) >= settleMs;
  const files: FetchedFile[] = [];
  let bytes = 0;
  // Those that stay where they are must not take the place of others.
  for (const file of listed.filter((one) => isStill(one) && !isTooLarge(one))) {
    bytes += file.size;
    // The rest comes with the next fetch, when these are acknowledged.
    if (bytes > FILE_BYTES_MAX || files.length === FILES_PER_FETCH_MAX) break;
    if (files.length > 0 && now().getTime() - begun > FETCH_MS) break;
    const fetched = await fetchFile(client, file, pathOf(file.name));
    if (fetched && isWhole(file, fetched.content, fetching)) files.push(fetched);
  }
  return { files, isAll: files.length === listed.length && !isDrafted };
}

/** Nothing where the bank has taken it away or written on since it was listed. */
async function fetchFile(
  client: SftpClient,
  { name, size }: ListedFile,
  path: string,
): Promise<FetchedFile | undefined> {
  try {
    // Asked for by itself, since some servers tell the times of a list less exactly.
    const state = await client.stat(path);
    if (state.size !== size) return undefined;
    const content = (await client.get(path)).toString('latin1');
    return content.length === size ? { name, content, state } : undefined;
  } catch (error) {
    if (await client.exists(path)) throw error;
    return undefined;
  }
}

/** One that has no end is still being written, until nobody has gone on with it for long. */
function isWhole(
  { name, size }: ListedFile,
  content: string,
  { log, stillness, brokenOffMs = BROKEN_OFF_MS }: Fetching,
): boolean {
  if (hasEnd(content)) return true;
  if (stillness.stillFor(name) < brokenOffMs) return false;
  // What it has may be returns, which somebody waits for.
  const fields = { alert: 'ach_file_broken_off', rail: 'ach', file: name, size };
  log.error(fields, 'a file from the bank has no end: it is read as far as it goes');
  return true;
}
