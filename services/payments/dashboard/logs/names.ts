import type { ListPage } from '@libs/ui';

/** Whoever was there before so many others is told by the id. */
const PAGES_MAX = 20;

export interface Named {
  id: string;
  name: string;
}

/** Reads page after page until each of them is found, or nothing is left. */
export async function namesOf(
  ids: readonly string[],
  read: (cursor: string | undefined) => Promise<ListPage<Named>>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const missing = new Set(ids);
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MAX && missing.size > 0; pages += 1) {
    const page = await read(cursor);
    for (const { id, name } of page.data) if (missing.delete(id)) names.set(id, name);
    cursor = page.next_cursor ?? undefined;
    if (cursor === undefined) break;
  }
  return names;
}
