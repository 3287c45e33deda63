import type { Client, Query } from '../api/client.ts';
import { ConnectionLost } from '../api/problem.ts';

/** The longest that somebody waits for a file; most are there within a second. */
const READ_MS_MAX = 30 * 60_000;
/** Until then the browser has begun to write the file. */
const KEPT_MS = 60_000;
/** Without it Excel takes UTF-8 for the letters of the country. The API's own stream has none: programs take it for part of the first name. */
const BYTE_ORDER_MARK = '\ufeff';

/** Saves a file of the API, which fits into memory, for somebody to open. */
export async function download(
  client: Pick<Client, 'open'>,
  path: string,
  { query = {} }: { query?: Query } = {},
): Promise<void> {
  const answer = await client.open(path, { query, signal: AbortSignal.timeout(READ_MS_MAX) });
  const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? '';
  save(await contentOf(answer), name);
}

async function contentOf(answer: Response): Promise<Blob> {
  try {
    const content = await answer.blob();
    return /^text\/csv\b/.test(content.type)
      ? new Blob([BYTE_ORDER_MARK, content], { type: content.type })
      : content;
  } catch (error) {
    // Cut off in the middle.
    throw new ConnectionLost(error);
  }
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
